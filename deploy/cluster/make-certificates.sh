#!/bin/sh
# Makes an authority and the certificates of a cluster for trying out, once: FOLDER/ca/ca.crt, and NAME.crt, NAME.key and
# NAME.pem (both) for each NAME. A folder that has them stays as it is. It needs OpenSSL 3.
# usage: make-certificates.sh FOLDER NAME=ADDRESS...
set -eu
folder=$1
shift
if [ -f "$folder/done" ]; then exit 0; fi
mkdir -p "$folder/ca"
cd "$folder"
# The authority's key signs these certificates and is then deleted.
openssl req -x509 -newkey rsa:2048 -noenc -days 3650 -sha256 -subj '/CN=Stowage cluster authority' \
  -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
  -keyout ca.key -out ca/ca.crt
for node in "$@"; do
  name=${node%%=*}
  address=${node#*=}
  # Nodes of KurrentDB trust one another by this common name, its default.
  openssl req -newkey rsa:2048 -noenc -sha256 -subj '/CN=eventstoredb-node' -keyout "$name.key" -out "$name.csr"
  printf '%s\n' "subjectAltName=DNS:$name,DNS:localhost,IP:127.0.0.1,IP:$address" 'basicConstraints=CA:FALSE' \
    'keyUsage=digitalSignature,keyEncipherment' 'extendedKeyUsage=serverAuth,clientAuth' >"$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca/ca.crt -CAkey ca.key -CAcreateserial -days 825 -sha256 \
    -extfile "$name.ext" -out "$name.crt"
  cat "$name.crt" "$name.key" >"$name.pem"
  rm "$name.csr" "$name.ext"
done
rm ca.key
rm -f ca/ca.srl ca.srl
# The servers run as users of their own images, and share only this volume.
chmod 755 . ca
chmod 644 ca/ca.crt ./*.crt ./*.key ./*.pem
touch done
