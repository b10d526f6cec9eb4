// Package fingerprint says whether two results were measured on the same settings,
// and on which different ones if not.
//
// Settings are what was read back, not what was declared, in groups: of Postgres,
// the storage, the kernel, versions, the node and images.
package fingerprint
