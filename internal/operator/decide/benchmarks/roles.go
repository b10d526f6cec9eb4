package benchmarks

import (
	"strconv"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func roleWaits(role *cnpgv1.DatabaseRole, what string) string {
	if role == nil {
		return waits(nil, "", what)
	}
	return waits(role.Status.Applied, role.Status.Message, what)
}

const (
	// AskAgain is the time after which the operator writes a failed role again. A
	// CloudNativePG instance can look at a new role before it may read the role's
	// Secret. Without an update it retries only 30 s later (CloudNativePG 1.30,
	// internal/management/controller/databaserole_controller.go).
	AskAgain = 2 * time.Second
	// mostAsked bounds how often. CloudNativePG then retries on its own.
	mostAsked = 15
)

// asked counts how often a role that is not applied was written again. For an applied
// role it is the last count.
func asked(role *cnpgv1.DatabaseRole, now time.Time) string {
	if role == nil {
		return ""
	}
	if n := min(int(now.Sub(role.CreationTimestamp.Time)/AskAgain), mostAsked); failed(role) && n > 0 {
		return strconv.Itoa(n)
	}
	return role.Annotations[naming.AnnotationAsked]
}

// AsksAgain says whether a role is to be written again some time after now.
func AsksAgain(facts observed.Benchmark) bool {
	for _, role := range []*cnpgv1.DatabaseRole{facts.Role, facts.CheckRole} {
		if role != nil && failed(role) && facts.Now.Sub(role.CreationTimestamp.Time) < mostAsked*AskAgain {
			return true
		}
	}
	return false
}

func failed(role *cnpgv1.DatabaseRole) bool {
	return role.Status.Applied != nil && !*role.Status.Applied
}

// waits says what CloudNativePG has not applied yet, and why, or "".
func waits(applied *bool, why, what string) string {
	if applied != nil && *applied {
		return ""
	}
	message := msgApplying + what
	if why != "" {
		message += ": " + why
	}
	return message
}
