/*
 * The certificate of the fake payment platforms, valid until 2125, and its key. They protect nothing: only the tests trust
 * their authority, whose own key was deleted.
 */

/** The authority that the tests trust. */
export const platformAuthority = `
-----BEGIN CERTIFICATE-----
MIIBcTCCARagAwIBAgIBATAKBggqhkjOPQQDAjA2MTQwMgYDVQQDDCtzdG93YWdl
IHRlc3QgYXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMCAXDTE4MDEwMTAw
MDAwMFoYDzIxMjUxMjMxMDAwMDAwWjA2MTQwMgYDVQQDDCtzdG93YWdlIHRlc3Qg
YXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMFkwEwYHKoZIzj0CAQYIKoZI
zj0DAQcDQgAEOhnTOQ6JNr/yKgZBjKw7NkjtCfnnZGHANsWxRElkopqhsrA57bkF
avQV7K0o2jvOA7JSTxOJ2ajWLwURmSykbaMTMBEwDwYDVR0TAQH/BAUwAwEB/zAK
BggqhkjOPQQDAgNJADBGAiEAqDoC7qjjOvbjeCRuH+CxD6RDCBN0AAsvjuvsI6Hf
SpMCIQCuwbd2zMAw9t3nmQGFrc41zksUvVcq94/rqueGW1h8aw==
-----END CERTIFICATE-----
`;

/** For the hosts of the platforms' interfaces. */
export const platformCertificate = `
-----BEGIN CERTIFICATE-----
MIIBxzCCAW2gAwIBAgIBAjAKBggqhkjOPQQDAjA2MTQwMgYDVQQDDCtzdG93YWdl
IHRlc3QgYXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMCAXDTE4MDEwMTAw
MDAwMFoYDzIxMjUxMjMxMDAwMDAwWjAcMRowGAYDVQQDDBFwYXltZW50IHBsYXRm
b3JtczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDuy550T1Jtd1xHxeyxwo863
6Z4jAgXJfFrjKV+ghqXvjHi5f+kShe9U2ys2p2CrA7pIgqwxHg2kkOj+n50fHOCj
gYMwgYAwcAYDVR0RBGkwZ4IVYXBpLm1jaC53ZWl4aW4ucXEuY29tghJvcGVuYXBp
LmFsaXBheS5jb22CDmFwaS5zdHJpcGUuY29tghBhcGktbS5wYXlwYWwuY29tghhh
cGktbS5zYW5kYm94LnBheXBhbC5jb20wDAYDVR0TAQH/BAIwADAKBggqhkjOPQQD
AgNIADBFAiEA3bZFavDEAjV4i5rQ2hJF/ZDodEFRPtnF2389ud724TgCIA5sMmnY
dbcFIOzlBGd6qlVu+zvVfQ6g2Lp266h0PlYr
-----END CERTIFICATE-----
`;

export const platformKey = `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkCXiRZ6YOJUy3zQR
2Xd9To6wVZDwhjjdBqVRySgOfOihRANCAAQ7suedE9SbXdcR8XsscKPOt+meIwIF
yXxa4ylfoIal74x4uX/pEoXvVNsrNqdgqwO6SIKsMR4NpJDo/p+dHxzg
-----END PRIVATE KEY-----
`;
