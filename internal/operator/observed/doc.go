// Package observed has the facts that decisions rest on: one type for each kind that the
// operator reconciles, and the types that several kinds share. Package observe reads them
// from the API server and the instances. The packages of decide and the profiles only read
// these values, so they need no client and no clock.
package observed
