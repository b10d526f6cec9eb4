package hatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

// same returns complaint unless a value is what the spec says already.
func same(value any, said, complaint string) string {
	if text, _ := value.(string); text == said {
		return ""
	}
	return complaint
}

func sameDatabase(value any, of scope) string {
	return same(value, of.Database, "set spec.postgres.database; the same name may be repeated")
}

func sameOwner(value any, of scope) string {
	return same(value, of.Owner, "set spec.postgres.owner; the same name may be repeated")
}

// checksums can only be left off where CloudNativePG decides defaults.
func checksums(value any, of scope) string {
	if value == true || of.AsIs {
		return ""
	}
	return "data checksums are on; remove it, or set spec.defaults: CloudNativePG"
}

func sameClass(field string) check {
	return func(value any, of scope) string {
		return same(value, of.Volumes[field].Class, "set spec.profile; the StorageClass of the profile may be repeated")
	}
}

// sameRequest takes the size of the spec, in any unit, and nothing beside it.
func sameRequest(field string) check {
	return func(value any, of scope) string {
		requests, _ := value.(map[string]any)
		if len(requests) == 1 && quantity.Equal(fmt.Sprint(requests["storage"]), of.Volumes[field].Size) {
			return ""
		}
		return "set spec.storage; the same size may be repeated"
	}
}

// withoutQuorum is open where the operator chooses no standbys: it can only add to what
// the tiers Local and Async promise.
func withoutQuorum(_ any, of scope) string {
	if of.Quorum {
		return "with durability Quorum the operator chooses the standbys; set spec.quorum"
	}
	return ""
}

func withoutPodMonitor(_ any, of scope) string {
	if of.PodMonitor {
		return "the operator makes the PodMonitor; remove it, or set spec.monitoring.podMonitor: Disabled"
	}
	return ""
}

func sameMajor(value any, of scope) string {
	if fmt.Sprint(value) == strconv.Itoa(of.Major) {
		return ""
	}
	return fmt.Sprintf("it is not the major of spec.postgres.version, %d, which decides the parameters that exist; set both to the same", of.Major)
}

// harmlessVariables are read by the programs that archive WAL and by the C library, and
// change neither what Postgres writes nor whom it trusts.
var harmlessVariables = []string{
	"TZ", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE",
}

// loader forbids what the dynamic linker and Postgres read: it runs other code, or
// changes Postgres below its parameters, such as flushes that flush nothing.
func loader(value any, _ scope) string {
	v, _ := value.(map[string]any)
	name, _ := v["name"].(string)
	if upper := strings.ToUpper(name); strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "PG") || strings.HasPrefix(upper, "GLIBC_") {
		return fmt.Sprintf("%s changes what Postgres runs below its parameters; remove it", name)
	}
	return ""
}

// variable is open for a plain value of a harmless name.
func variable(value any, _ scope) string {
	v, _ := value.(map[string]any)
	name, _ := v["name"].(string)
	switch {
	case v["valueFrom"] != nil:
		return fmt.Sprintf("%s is read from another object, and the pods would get any Secret of the namespace", name)
	case slices.Contains(harmlessVariables, name):
		return ""
	}
	return fmt.Sprintf("%s is not one of %s, and may change Postgres or the programs that it runs behind its parameters", name, strings.Join(harmlessVariables, ", "))
}
