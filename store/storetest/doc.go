// Package storetest is the one suite that every verbatim.Store must pass.
//
// In: a function that opens a fresh, empty store whose clock is the one
// given. Out: test failures that name the rule. New behaviour of stores is
// written here first, then into each store.
//
// The store must also keep accounts (AddAccount and Disable of auth.Book),
// since votes are counted with the accounts as they are.
package storetest
