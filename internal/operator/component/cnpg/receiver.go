package cnpg

import (
	"maps"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
)

// ParameterReceiver names the instance of a follower that receives WAL from the database
// which it follows. Postgres does not use it: another value has every instance reload its settings.
const ParameterReceiver = "pgstorage.receiver"

// ReceiverOf a follower is the value of ParameterReceiver; empty while its first instance
// receives.
//
// When another instance takes over, CloudNativePG 1.30.0 writes its primary_conninfo, then
// status.currentPrimary, and reloads. If the write of the status conflicts with another one, the pass ends there.
// The next pass finds the file as it should be, and does not reload (Reconcile of
// internal/management/controller/instance_controller.go). The instance then receives from its own Service, that is
// from itself, and the follower stays behind.
//
// A Cluster that does not follow keeps what it has, because no reload may come into a demotion or a promotion.
func ReceiverOf(live *cnpgv1.Cluster, follows bool) string {
	switch {
	case live == nil:
		return ""
	case !follows:
		return live.Spec.PostgresConfiguration.Parameters[ParameterReceiver]
	case live.Status.CurrentPrimary == live.Name+"-1":
		return ""
	}
	return live.Status.CurrentPrimary
}

// undeclared parameters are those that the operator sets besides the ones it decides.
func undeclared(in Inputs) map[string]string {
	out := map[string]string{}
	maps.Copy(out, in.Site.parameters())
	if in.Receiver != "" {
		out[ParameterReceiver] = in.Receiver
	}
	return out
}
