"""Whose certificate it is: Ed25519 signatures of certificates.

A certificate proves itself; a signature says who stands for it. It is made over everything else in the certificate,
which holds the digest of the artefact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emdeg.errors import BadRequest, NotCertified, RobotError

SIGNATURE = "signature"
_KIND = "Ed25519"
LARGEST = 64 * 1024


def signed(certificate: Mapping[str, Any], key: Path) -> dict[str, Any]:
    """The certificate with the signature of a private key: PEM (PKCS 8) or OpenSSH, Ed25519, without a passphrase."""
    serialization, ed25519 = _library("--sign")
    data = _read(key)
    load = serialization.load_ssh_private_key if b"OPENSSH" in data else serialization.load_pem_private_key
    try:
        private = load(data, password=None)
    except (ValueError, TypeError) as problem:
        raise RobotError(f"it is no private key that can be used: {problem}", file=str(key)) from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise RobotError("it is no Ed25519 key", file=str(key))
    public = private.public_key().public_bytes_raw()
    bare = {name: value for name, value in certificate.items() if name != SIGNATURE}
    value = private.sign(_message(bare)).hex()
    return bare | {SIGNATURE: {"kind": _KIND, "key": public.hex(), "value": value}}


def signer(certificate: Mapping[str, Any], public: Path | None = None) -> str | None:
    """The public key (hexadecimal) that signed a certificate, None where nobody did; NotCertified where it is wrong.

    With `public`, a file (PEM, OpenSSH, or 64 hexadecimal digits), it must be that key's signature.
    """
    given = certificate.get(SIGNATURE)
    if given is None:
        if public is not None:
            raise NotCertified("it is not signed")
        return None
    if not isinstance(given, dict) or set(given) != {"kind", "key", "value"} or given["kind"] != _KIND:
        raise NotCertified("the certificate is damaged: its signature is none of Ed25519")
    _, ed25519 = _library("a signed certificate")
    from cryptography.exceptions import InvalidSignature

    bare = {name: value for name, value in certificate.items() if name != SIGNATURE}
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(given["key"]))
        key.verify(bytes.fromhex(given["value"]), _message(bare))
    except (InvalidSignature, TypeError, ValueError):
        raise NotCertified("the signature is not that of this certificate") from None
    if public is not None and key.public_bytes_raw() != public_key(public):
        raise NotCertified(f"it is signed by another key: {key.public_bytes_raw().hex()}")
    return key.public_bytes_raw().hex()


def public_key(path: Path) -> bytes:
    """The 32 bytes of a public key."""
    serialization, ed25519 = _library("--signed-by")
    data = _read(path).strip()
    try:
        if len(data) == 64:
            return bytes.fromhex(data.decode())
        load = serialization.load_ssh_public_key if data.startswith(b"ssh-") else serialization.load_pem_public_key
        key = load(data)
    except (ValueError, TypeError) as problem:
        raise RobotError(f"it is no public key that can be used: {problem}", file=str(path)) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise RobotError("it is no Ed25519 key", file=str(path))
    return key.public_bytes_raw()


def _message(certificate: Mapping[str, Any]) -> bytes:
    return b"emdeg certificate\n" + json.dumps(certificate, sort_keys=True, separators=(",", ":")).encode()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST)
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=str(path)) from None


def _library(asking: str) -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadRequest(f"{asking} needs the package cryptography: pip install 'emdeg[sign]'") from None
    return serialization, ed25519
