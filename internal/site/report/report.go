// Package report is what the watcher of a site publishes about the other sites of its
// database, and the operator reads. It depends on the standard library alone, and decodes
// what an untrusted watcher sends.
package report

// How a watcher publishes its report.
const (
	// Port that a watcher listens at.
	Port = 9188
	// Path of the report.
	Path = "/sites"
	// HealthPath answers as soon as the watcher listens.
	HealthPath = "/healthz"
)

// Report has one entry for each other site, in the order of the watcher's arguments.
type Report struct {
	Members []Member `json:"members"`
}

// Member is the outcome of the last attempt to ask one site. If the site did not answer, only
// Name, Asked and Problem are set.
type Member struct {
	// Name of the site.
	Name string `json:"name"`
	// Asked is when the last attempt began, in seconds since 1970 by the watcher's clock.
	// An answer is not older. 0: no attempt has ended yet.
	Asked int64 `json:"asked"`
	// Answered says that the last attempt succeeded.
	Answered bool `json:"answered"`
	// Problem says why the last attempt failed; empty if it did not.
	Problem Problem `json:"problem,omitempty"`
	// InRecovery says that the instance replays WAL, and accepts no writes.
	InRecovery bool `json:"inRecovery"`
	// System is the system identifier, in decimal, as pg_controldata prints it.
	System string `json:"system,omitempty"`
	// Timeline that the instance writes. In recovery, it is that of its control file. After the
	// promotion of another site, it stays the old one until a restartpoint, for minutes.
	Timeline int64 `json:"timeline,omitempty"`
	// Primary is the setting pgstorage.primary; empty where it is not set.
	Primary string `json:"primary,omitempty"`
	// Epoch is the setting pgstorage.epoch: how many promotions led to what the site has; 0
	// where it is not set.
	Epoch int64 `json:"epoch,omitempty"`
	// Topology is the setting pgstorage.topology; empty where it is not set.
	Topology string `json:"topology,omitempty"`
	// ClockSkewMilliseconds is how far the site's clock is ahead of the watcher's. It is
	// wrong by at most half of the time that the answer took.
	ClockSkewMilliseconds int64 `json:"clockSkewMilliseconds"`
}

// Problem is why a site did not answer: one of few words, never a server's own text.
type Problem string

// All problems.
const (
	// NoCertificate is missing or unusable files of the site's certificates.
	NoCertificate Problem = "no certificate"
	// NoRoute is a host that has no address, or that no packet reaches.
	NoRoute Problem = "no route"
	// Refused is a host that accepts no connection or session now, or ended it.
	Refused Problem = "refused"
	// TLSFailed is a certificate that one side does not accept, or a server without TLS.
	TLSFailed Problem = "TLS failed"
	// AuthenticationFailed is a server that does not let the user in.
	AuthenticationFailed Problem = "authentication failed"
	// TimedOut is an answer that did not arrive in time.
	TimedOut Problem = "timed out"
	// NotUnderstood is an answer without what was asked, or an error in its place.
	NotUnderstood Problem = "answer not understood"
)

// Known says that it is one of the problems above.
func (p Problem) Known() bool {
	switch p {
	case NoCertificate, NoRoute, Refused, TLSFailed, AuthenticationFailed, TimedOut, NotUnderstood:
		return true
	}
	return false
}
