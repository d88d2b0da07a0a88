# SPDX-License-Identifier: MIT
"""Keys and certificates: the signing key of packages, and a test authority with a certificate of this server."""
import datetime
import ipaddress
import os
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PEM = serialization.Encoding.PEM


def write_private(path, data):
    """A file that only its owner can read, from its first byte."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)


def private_bytes(key):
    return key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def stored_key(path, make):
    if path.exists():
        return serialization.load_pem_private_key(path.read_bytes(), None)
    key = make()
    write_private(path, private_bytes(key))
    return key


def signing_key(directory):
    """The Ed25519 key of packages and manifests, and its public half as hexadecimal digits."""
    key = stored_key(directory / "signing.pem", ed25519.Ed25519PrivateKey.generate)
    public = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return key, public.hex()


def certificate(subject, issuer, key, signer, days, is_authority, names=()):
    now = datetime.datetime.utcnow()
    end = now + datetime.timedelta(days=days)
    builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
               .serial_number(x509.random_serial_number())
               .not_valid_before(min(now, end) - datetime.timedelta(days=1)).not_valid_after(end)
               .add_extension(x509.BasicConstraints(is_authority, 0 if is_authority else None), critical=True)
               .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
               .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
               .add_extension(x509.KeyUsage(not is_authority, False, False, False, False, is_authority, is_authority,
                                            False, False), critical=True))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(signer, hashes.SHA256())


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def tls_context(directory, kind):
    """The server's side of TLS, the path of the authority's certificate, and the SHA-256 of the server's public key.

    kind: good, expired, wrong-host, or unknown-authority (another than the one in ca.pem).
    """
    def new():
        return ec.generate_private_key(ec.SECP256R1())

    authority, title = stored_key(directory / "ca.key", new), name("Tendon test authority: never trust it elsewhere")
    if not (directory / "ca.pem").exists():
        made = certificate(title, title, authority, authority, 365, True)
        (directory / "ca.pem").write_bytes(made.public_bytes(PEM))
    key = stored_key(directory / "server.key", new)
    loopback = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
                x509.IPAddress(ipaddress.ip_address("::1"))]
    names = [x509.DNSName("elsewhere.test")] if kind == "wrong-host" else loopback
    signer = new() if kind == "unknown-authority" else authority
    made = certificate(name("tendon-obvious-cloud"), title, key, signer, -1 if kind == "expired" else 90, False, names)
    path = directory / f"server-{kind}.pem"
    path.write_bytes(made.public_bytes(PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, directory / "server.key")
    digest = hashes.Hash(hashes.SHA256())
    digest.update(key.public_key().public_bytes(serialization.Encoding.DER,
                                                serialization.PublicFormat.SubjectPublicKeyInfo))
    return context, directory / "ca.pem", digest.finalize().hex()
