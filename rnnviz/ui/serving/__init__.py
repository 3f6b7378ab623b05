"""The server around the pages: the guard of requests, the start and the end, workarounds."""
