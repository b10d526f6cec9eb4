package hatch

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// check says what is wrong with a value of an open field; "" is nothing.
type check func(value any, of scope) string

// scope is what a value is checked in.
type scope struct {
	Setting
	// roles that the hatch manages, and the owner of the database.
	roles map[string]bool
}

// only one value is open.
func only(value any, complaint string) check {
	return func(got any, _ scope) string {
		if got == value {
			return ""
		}
		return complaint
	}
}

// toleration is open for a taint that it names, unless Kubernetes owns the taint. A pod
// that tolerates those runs on the control plane, or stays on a lost node.
func toleration(value any, _ scope) string {
	t, _ := value.(map[string]any)
	key, _ := t["key"].(string)
	switch {
	case key == "":
		return "it tolerates every taint; name the key of one"
	case strings.HasPrefix(key, "node-role.kubernetes.io/"), strings.HasPrefix(key, "node.kubernetes.io/"):
		return fmt.Sprintf("the taint %s is Kubernetes' own: it keeps pods off the control plane and off nodes that are lost", key)
	}
	return ""
}

var libraryName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// library of the image, by its name.
func library(value any, _ scope) string {
	if name, _ := value.(string); libraryName.MatchString(name) {
		return ""
	}
	return "Postgres would run a file from outside of the directories of its image; give the name of a library"
}

// reserved are the beginnings of names of roles that Postgres, CloudNativePG and this
// operator keep for themselves.
func reserved(name string) bool {
	return name == "postgres" || name == "streaming_replica" || strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "cnpg_") || strings.HasPrefix(name, "pgstorage_")
}

func roleName(value any, _ scope) string {
	if name, _ := value.(string); reserved(name) {
		return fmt.Sprintf("%q is a role of Postgres, CloudNativePG or this operator; choose another name", name)
	}
	return ""
}

// harmless are the predefined roles of Postgres that neither reach files of the server
// nor run programs (https://www.postgresql.org/docs/current/predefined-roles.html).
var harmless = []string{
	"pg_checkpoint", "pg_maintain", "pg_monitor", "pg_read_all_data", "pg_read_all_settings", "pg_read_all_stats",
	"pg_signal_backend", "pg_stat_scan_tables", "pg_use_reserved_connections", "pg_write_all_data",
}

// membership in a role that is known not to be a superuser.
func membership(value any, of scope) string {
	name, _ := value.(string)
	if slices.Contains(harmless, name) || !reserved(name) && of.roles[name] {
		return ""
	}
	return fmt.Sprintf("%q may be a superuser, reach files of the server or run programs in the pod. Name roles of managed.roles, the owner, or one of %s", name, strings.Join(harmless, ", "))
}

// Characters that open rules may have: none that quotes, includes, comments or goes on
// in another line.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.,:/${}+= \t-]+$`)

// hba is open for a rule of one line that authenticates each client. Accepted are a
// password, a certificate of the cluster's own authority, and the user of the process
// in the pod.
func hba(value any, _ scope) string {
	line, _ := value.(string)
	if asks(method(line)) {
		return ""
	}
	return "it is not a plain rule that ends in scram-sha-256, md5, cert or reject, so it could let clients in as superuser without a password"
}

// method of a plain line with its options, after the name of the kind of connection;
// nothing for any other line.
func method(line string) []string {
	words := strings.Fields(line)
	if !plain.MatchString(line) || slices.ContainsFunc(words, joined) || len(words) < 4 {
		return nil
	}
	if words[0] == "local" {
		return append([]string{"local"}, words[3:]...)
	}
	rest := words[4:]
	if len(rest) > 0 {
		if _, err := netip.ParseAddr(rest[0]); err == nil { // the mask of an address
			rest = rest[1:]
		}
	}
	return append([]string{words[0]}, rest...)
}

// joined says that Postgres takes a word and the one beside it for one.
func joined(word string) bool { return strings.HasPrefix(word, ",") || strings.HasSuffix(word, ",") }

// asks says that a method asks each client who it is.
func asks(method []string) bool {
	if len(method) < 2 {
		return false
	}
	allowed := map[string][]string{
		"local": {"scram-sha-256", "md5", "peer", "reject"}, "host": asking, "hostssl": asking, "hostnossl": asking,
	}[method[0]]
	return slices.Contains(allowed, method[1]) && !slices.ContainsFunc(method[2:], func(option string) bool {
		return option != "clientcert=verify-ca" && option != "clientcert=verify-full"
	})
}

// asking are the methods of connections over a network.
var asking = []string{"scram-sha-256", "md5", "cert", "reject"}
