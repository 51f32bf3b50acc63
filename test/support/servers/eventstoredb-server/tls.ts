/**
 * A self-signed certificate for localhost and 127.0.0.1, valid until 2126, and its key. They protect nothing: the
 * server of a test presents them on loopback, and only that test trusts them.
 */
export const testCertificate = Buffer.from(
  `
-----BEGIN CERTIFICATE-----
MIIBozCCAUmgAwIBAgIULuce+M03lfvoFuQ40qea/z7//18wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNc3Rvd2FnZSB0ZXN0czAgFw0yNjExMjExMDAxMzBaGA8yMTI2
MTAyODEwMDEzMFowGDEWMBQGA1UEAwwNc3Rvd2FnZSB0ZXN0czBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABNTTTf5HcyFmtPlh29hOvzwpbuuBk6retYW/dUtAoybN
gKFiYfrancATH/SeXiE1w2UN42gMrR05iNCqqOVZu2ejbzBtMB0GA1UdDgQWBBQc
SEJZR4QK2JqYnfDSxVITjJDWEDAfBgNVHSMEGDAWgBQcSEJZR4QK2JqYnfDSxVIT
jJDWEDAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAA
ATAKBggqhkjOPQQDAgNIADBFAiA3zAQ45ygMGA0ynHWb9FRzvLTeF/9WE8yolP40
bcjlnQIhAPfYRr6SiwioJKZRXjfaZyPXlRM19IOWGwNqZItaEKuV
-----END CERTIFICATE-----
`.trimStart(),
);

export const testKey = Buffer.from(
  `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIJcubttjhw329zn3
u3OW5HFMSYNIN5Ndiafw4OlwHt+hRANCAATU003+R3MhZrT5YdvYTr88KW7rgZOq
3rWFv3VLQKMmzYChYmH62p3AEx/0nl4hNcNlDeNoDK0dOYjQqqjlWbtn
-----END PRIVATE KEY-----
`.trimStart(),
);
