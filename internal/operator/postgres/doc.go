// Package postgres decides every parameter that a cluster runs with, and refuses
// those that would lose acknowledged data, not start, or fight CloudNativePG.
//
// It is a total function of [Inputs]: no clock, no client, no randomness. Values come
// from four places, and the first one wins. They are safety (the durability tier), user
// (spec.postgres.parameters), profile (the storage) and computed (pgtune's rules, see
// computed.go). Other parameters keep CloudNativePG's defaults.
//
// settings.tsv holds what each supported Postgres says of its own parameters
// (hack/pgsettings.sh); user values are parsed, ranged and printed by it.
package postgres
