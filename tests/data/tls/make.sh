#!/bin/sh
# Makes the certificates of this folder anew (OpenSSL 3). They are for tests only and guard nothing.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
touch "$work/index.txt"
echo 01 > "$work/serial"
cat > "$work/ca.cnf" <<CNF
[ca]
default_ca = here
[here]
database = $work/index.txt
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
CNF
issue() { # file name start end
    key "$work/leaf.key"
    openssl req -new -key "$work/leaf.key" -subj "/CN=$2" -addext "subjectAltName=DNS:$2" -out "$work/leaf.csr"
    openssl ca -batch -notext -config "$work/ca.cnf" -cert ca.pem -keyfile "$work/ca.key" \
        -startdate "$3" -enddate "$4" -in "$work/leaf.csr" -out "$work/leaf.pem"
    cat "$work/leaf.key" "$work/leaf.pem" > "$1"
}
key "$work/ca.key"
openssl req -x509 -new -key "$work/ca.key" -subj "/CN=Webstrata test CA" -days 36500 \
    -addext "keyUsage=critical,keyCertSign,cRLSign" -out ca.pem
issue good.pem site.test 20200101000000Z 21250101000000Z
issue expired.pem site.test 20200101000000Z 20200201000000Z
key "$work/own.key"
openssl req -x509 -new -key "$work/own.key" -subj "/CN=site.test" -addext "subjectAltName=DNS:site.test" \
    -days 36500 -out "$work/own.pem"
cat "$work/own.key" "$work/own.pem" > self-signed.pem
