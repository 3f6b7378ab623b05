"""The cookies by which a browser is known again, signed with a secret that comes from the lecturer's key."""

import hashlib
import secrets

from itsdangerous import BadData, TimestampSigner

VISITOR = "rnnviz_visitor"
LECTURER = "rnnviz_lecturer"

KEPT = 30 * 24 * 3600
"""Seconds that a cookie is good for."""

AHEAD = 24 * 3600
"""Seconds that a cookie may come from the future: a clock that was set back forgets nobody."""

LONGEST = 200
"""Characters of a cookie that are looked at."""

ROUNDS = 200_000
"""Of the derivation: a key that a person thought up can't be tried quickly on a visitor's cookie."""


def new_id() -> str:
    """Who somebody is from now on."""
    return secrets.token_hex(8)


def header(name: str, value: str, *, secure: bool) -> str:
    """The Set-Cookie header that keeps a value from scripts, from other sites and, if `secure`, from http.

    >>> header("rnnviz_visitor", "a1.b2", secure=True)
    'rnnviz_visitor=a1.b2; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'
    """
    rest = "; Secure" if secure else ""
    return f"{name}={value}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax{rest}"


class Cookies:
    """Writes and reads the values; a process with the same key accepts those of the one before it."""

    def __init__(self, key: str) -> None:
        secret = hashlib.pbkdf2_hmac("sha256", key.encode(), b"rnnviz cookies", ROUNDS)
        self._signers = {
            name: TimestampSigner(secret, salt=name, key_derivation="hmac", digest_method=hashlib.sha256)
            for name in (VISITOR, LECTURER)
        }

    def sign(self, name: str, id: str) -> str:
        """The value of the cookie `name` for an id."""
        return self._signers[name].sign(id).decode()

    def read(self, name: str, value: str | None) -> str | None:
        """The id in a cookie's value; None if there is none, it is too old, or not signed here for `name`."""
        if not value or len(value) > LONGEST:
            return None
        signer = self._signers[name]
        try:
            id, signed = signer.unsign(value, return_timestamp=True)
            return id.decode() if -AHEAD <= signer.get_timestamp() - signed.timestamp() <= KEPT else None
        except (BadData, UnicodeError):
            return None
