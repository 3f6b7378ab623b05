"""The cookies that identify a browser, signed with a secret that is derived from the lecturer's key."""

import hashlib
import secrets

from itsdangerous import BadData, TimestampSigner

VISITOR = "rnnviz_visitor"
LECTURER = "rnnviz_lecturer"

KEPT = 30 * 24 * 3600
"""Seconds that a cookie is valid."""

AHEAD = 24 * 3600
"""Seconds that a cookie may come from the future: cookies stay valid when the server's clock is set back."""

LONGEST = 200
"""Characters of a cookie's value, at most; a longer one is not read."""

ROUNDS = 200_000
"""PBKDF2 rounds: they slow down a visitor who guesses keys and checks each against the own cookie."""


def new_id() -> str:
    """A visitor's new random id, 64 bits in hexadecimal."""
    return secrets.token_hex(8)


def header(name: str, value: str, *, secure: bool) -> str:
    """The Set-Cookie header. It hides the value from scripts, other sites' requests and, if `secure`, http.

    >>> header("rnnviz_visitor", "a1.b2", secure=True)
    'rnnviz_visitor=a1.b2; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'
    """
    rest = "; Secure" if secure else ""
    return f"{name}={value}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax{rest}"


class Cookies:
    """Signs and reads cookies' values. A new process with the same key accepts those of the one before."""

    def __init__(self, key: str) -> None:
        secret = hashlib.pbkdf2_hmac("sha256", key.encode(), b"rnnviz cookies", ROUNDS)
        self._signers = {
            name: TimestampSigner(secret, salt=name, key_derivation="hmac", digest_method=hashlib.sha256)
            for name in (VISITOR, LECTURER)
        }

    def sign(self, name: str, id: str) -> str:
        """The signed value of the cookie `name` for an id."""
        return self._signers[name].sign(id).decode()

    def read(self, name: str, value: str | None) -> str | None:
        """The id in a cookie's value; None without a value, if it is too old, or not signed for `name`."""
        if not value or len(value) > LONGEST:
            return None
        signer = self._signers[name]
        try:
            id, signed = signer.unsign(value, return_timestamp=True)
            return id.decode() if -AHEAD <= signer.get_timestamp() - signed.timestamp() <= KEPT else None
        except (BadData, UnicodeError):
            return None
