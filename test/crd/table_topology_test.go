package crd_test

import (
	"fmt"
	"strings"
)

// These are the rows of spec.topology.

// site is a member of a topology.
func site(name string, with ...any) map[string]any {
	out := fields("name", name, "host", "shop."+name+".example", "tls", fields("clientCertificate", "shop-"+name+"-replication", "certificateAuthority", "shop-"+name+"-ca"))
	for i := 0; i < len(with); i += 2 {
		out[with[i].(string)] = with[i+1]
	}
	return out
}

// topology of north and south, of which north is this one.
func topology(primary string, members ...any) change {
	if len(members) == 0 {
		members = []any{site("north"), site("south")}
	}
	return set("spec/topology", fields("self", "north", "primary", primary, "members", members))
}

// validTopology are objects that are accepted.
var validTopology = []edge{
	{"two sites", "PgStorageCluster", []change{topology("north")}},
	{"a site that follows", "PgStorageCluster", []change{topology("south")}},
	{"four sites", "PgStorageCluster", []change{topology("north", site("north"), site("south"), site("east"), site("west"))}},
	{"a site on another port", "PgStorageCluster", []change{topology("north", site("north", "port", 65535), site("south", "port", 1))}},
}

func topologyRows() []row {
	const (
		t        = "spec.topology."
		together = "spec.topology: a site has no follow and no readPools, and its durability is not Ephemeral"
		primary  = "spec.topology can be added and removed only where self is primary"
		host     = "spec.topology.members[].host must be a lower-case DNS name, as shop.north.example"
		name     = "spec.topology.members[].name must be lower-case letters, digits and '-', begin with a letter, and end with a letter or digit"
	)
	lag := fields("bytes", "1Ki")
	return []row{
		cluster("topology that is empty", set("spec/topology", fields()), t+"self: Required value"),
		cluster("topology without primary", topology("north"), t+"primary: Required value").and(unset("spec/topology/primary")),
		cluster("topology without members", topology("north"), t+"members: Required value").and(unset("spec/topology/members")),
		cluster("topology of one site", topology("north", site("north")), t+"members", "should have at least 2 items"),
		cluster("topology of five sites", topology("north", site("north"), site("south"), site("east"), site("west"), site("up")), t+"members", "must have at most 4 items"),
		cluster("two sites of one name", topology("north", site("north"), site("north")), t+"members[1]: Duplicate value"),
		cluster("self that is no member", topology("north"), "spec.topology.self must name one of spec.topology.members").and(set("spec/topology/self", "east")),
		cluster("primary that is no member", topology("east"), "spec.topology.primary must name one of spec.topology.members"),
		cluster("site of a long name", topology("north", site("north"), site(strings.Repeat("s", 25))), t+"members[1].name: Too long: may not be more than 24 bytes"),
		cluster("site without host", topology("north", site("north"), site("south", "host", "")), t+"members[1].host", "should be at least 1 chars long"),
		cluster("site without tls", topology("north", site("north"), fields("name", "south", "host", "a.example")), t+"members[1].tls: Required value"),
		cluster("site without certificate", topology("north", site("north"), site("south", "tls", fields("certificateAuthority", "a"))), t+"members[1].tls.clientCertificate: Required value"),
		cluster("site without authority", topology("north", site("north"), site("south", "tls", fields("clientCertificate", "a"))), t+"members[1].tls.certificateAuthority: Required value"),
		cluster("site on port 0", topology("north", site("north"), site("south", "port", 0)), t+"members[1].port", "should be greater than or equal to 1"),
		cluster("site on port 65536", topology("north", site("north"), site("south", "port", 65536)), t+"members[1].port", "should be less than or equal to 65535"),
		cluster("site with an empty token", topology("north"), t+"promotionToken", "should be at least 1 chars long").and(set("spec/topology/promotionToken", "")),
		cluster("site with a long token", topology("north"), t+"promotionToken: Too long: may not be more than 1024 bytes").and(set("spec/topology/promotionToken", strings.Repeat("A", 1025))),
		cluster("site with a lag of few bytes", topology("north"), "maxLag.bytes must be a quantity of at least 1Mi").and(set("spec/topology/maxLag", lag)),
		cluster("site with read pools", topology("north"), together).and(set("spec/readPools", pools(map[string]any{"name": "far"}))),
		cluster("site that is ephemeral", topology("north"), together).and(set("spec/durability", "Ephemeral"), unset("spec/quorum"), set("spec/instances", 1)),
		cluster("site that becomes another", set("spec/topology/self", "south"), "spec.topology.self is immutable").with(topology("north")).updated(),
		cluster("topology added where another site writes", topology("south"), primary).updated(),
		cluster("topology removed where another site writes", unset("spec/topology"), primary).with(topology("south")).updated(),
		cluster("site of a bad name", topology("north", site("north"), site("-south", "host", "a.example")), refusedValue("spec.topology.members[1].name", `"-south"`, name)),
		cluster("site of a bad host", topology("north", site("north"), site("south", "host", "10.0.0.1/x")), refusedValue("spec.topology.members[1].host", fmt.Sprintf("%q", "10.0.0.1/x"), host)),
	}
}
