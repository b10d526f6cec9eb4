// Package adopt decides how CloudNativePG Clusters are taken over, and shows it. It reads
// and writes nothing: the caller asks the API server.
package adopt
