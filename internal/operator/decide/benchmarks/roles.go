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
	// AskAgain is after how long a role that failed is written again. CloudNativePG's
	// instance looks at a new role before its operator has let it read the role's Secret,
	// and by itself not before 30 s later (CloudNativePG 1.30,
	// internal/management/controller/databaserole_controller.go).
	AskAgain = 2 * time.Second
	// mostAsked bounds how often: until CloudNativePG looks again by itself.
	mostAsked = 15
)

// asked is how often a role that is not applied has been written again by now; of one
// that is applied what it was at last.
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
