"""Signs callbacks in the ways of PayPal and epay, for which there is no SDK that does; and makes certificates of fixed times.

Called by make-payment-vectors.mjs with a task as JSON on standard input; answers as JSON. Needs Python's `cryptography`.
"""

import base64
import datetime
import hashlib
import json
import sys
import urllib.parse
import zlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID


def certificate(common_name, start="2025-01-01", end="2030-01-01", serial=None):
    """A key, and a certificate of its own signature."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "TEST ONLY"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial or x509.random_serial_number())
        .not_valid_before(datetime.datetime.fromisoformat(start))
        .not_valid_after(datetime.datetime.fromisoformat(end))
        .sign(key, hashes.SHA256())
    )
    return key, made.public_bytes(serialization.Encoding.PEM).decode()


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def paypal(task):
    keys = {name: certificate(**options) for name, options in task["certificates"].items()}
    signed = []
    for one in task["messages"]:
        body = one["body"].encode()
        text = "%s|%s|%s|%d" % (one["id"], one["time"], one["webhookId"], zlib.crc32(body))
        algorithm = {"sha256": hashes.SHA256(), "sha1": hashes.SHA1()}[one["hash"]]
        signature = keys[one["key"]][0].sign(text.encode(), padding.PKCS1v15(), algorithm)
        signed.append(base64.b64encode(signature).decode())
    return {"certificates": {name: pem for name, (_, pem) in keys.items()}, "signatures": signed}


def epay(task):
    signed = []
    for one in task["messages"]:
        fields = {k: v for k, v in one["message"].items() if v != "" and k not in ("sign", "sign_type")}
        text = "&".join("%s=%s" % (k, fields[k]) for k in sorted(fields)) + one["key"]
        sign = hashlib.md5(text.encode()).hexdigest()
        signed.append(urllib.parse.urlencode({**one["message"], "sign": sign, "sign_type": "MD5"}))
    return {"forms": signed}


def certificates(task):
    made = [certificate(**options) for options in task["certificates"]]
    return {"made": [{"privateKey": private_pem(key), "certificate": pem} for key, pem in made]}


request = json.load(sys.stdin)
json.dump({"paypal": paypal, "epay": epay, "certificates": certificates}[request["task"]](request), sys.stdout)
