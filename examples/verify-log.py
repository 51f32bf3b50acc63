import base64, hashlib, json, pathlib, re, sys
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()
def need(truth, what):
    truth or sys.exit(f"NOT VERIFIED: {what}")
def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "an event has a member twice")
    return dict(pairs)
def leaf(line, index):  # Every number is a float, as in JavaScript and RFC 8785.
    event = json.loads(line.decode(), object_pairs_hook=unique, parse_int=float)
    need(event.pop("index") == index, f"event {index} is not in its place")
    digests = {name: sha256(rfc8785.dumps(event[name])).hex() for name in ("data", "metadata")}
    return sha256(b"\0", rfc8785.dumps({**event, **digests, "v": 1}))

folder, vkey = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text().strip()
name, key_id, public = vkey.split("+")[0], vkey.split("+")[1], base64.b64decode(vkey.split("+", 2)[2])
need(sha256(name.encode(), b"\n", public)[:4].hex() == key_id and public[0] == 1, "the vkey is malformed")
text, notes = (folder / "checkpoint").read_bytes().decode().rsplit("\n\n", 1)
signatures = map(base64.b64decode, re.findall(rf"^— {re.escape(name)} (\S+)$", notes, re.M))
signature = next((known[4:] for known in signatures if known[:4].hex() == key_id), b"")
Ed25519PublicKey.from_public_bytes(public[1:]).verify(signature, text.encode() + b"\n")
origin, size, root = text.split("\n")[0], int(text.split("\n")[1]), text.split("\n")[2]
trees = []  # complete subtrees, the largest first: how many leaves, and the hash
for first in range(0, size, 256):
    number, width = str(first // 256), min(256, size - first)
    path = re.sub(r"\d{3}(?=\d)", r"x\g<0>/", number.zfill(-(-len(number) // 3) * 3))
    lines = (folder / "events" / (path + (f".p/{width}" if width < 256 else ""))).read_bytes().splitlines()
    for index, line in enumerate(lines, first):
        count, node = 1, leaf(line, index)
        while trees and trees[-1][0] == count:
            count, node = 2 * count, sha256(b"\1", trees.pop()[1], node)
        trees.append((count, node))
top = trees.pop()[1] if trees else sha256()
while trees:
    top = sha256(b"\1", trees.pop()[1], top)
need(origin == name and base64.b64encode(top).decode() == root, "the checkpoint has another root or origin")
print(f"VERIFIED: {size} events of {origin}, root {root}")
