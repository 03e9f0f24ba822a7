// Package config finds a user's home directory of Verbatim and reads its
// configuration strictly: unknown fields, fields that come twice and values
// out of range are errors that name file, line and field, and nothing starts.
//
// A missing file is the careful default, not a weaker check.
package config
