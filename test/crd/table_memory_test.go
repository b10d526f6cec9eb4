package crd_test

import (
	"fmt"
	"strings"
)

// These are the rows of the profile type Memory, and of volumes in memory of a PgNodeStorage.

func memory(name string, c change, says ...string) row {
	return row{name: "memory " + name, kind: "Memory", stage: onCreate, change: []change{c}, says: says}
}

func nodeMemory(name string, volumes []any, says ...string) row {
	return row{name: "node memory " + name, kind: "NodeMemory", stage: onCreate, change: []change{set("spec/memory/volumes", volumes)}, says: says}
}

// inMemory are so many volumes.
func inMemory(count int) []any {
	out := []any{}
	for i := range count {
		out = append(out, fields("name", fmt.Sprintf("pvc-%d", i), "size", "1Gi"))
	}
	return out
}

// validMemory are objects that are accepted.
var validMemory = []edge{
	{"least memory", "Memory", []change{set("spec/memory/maxPerNode", "1Gi")}},
	{"memory in bytes", "Memory", []change{set("spec/memory/maxPerNode", 1<<31)}},
	{"no volumes yet", "NodeMemory", []change{unset("spec/memory/volumes")}},
	{"most volumes", "NodeMemory", []change{set("spec/memory/volumes", inMemory(256))}},
	{"a volume that is mounted", "NodeMemory", []change{set("spec/memory/volumes/0/incarnation", "0123456789abcdef")}},
}

func memoryRows() []row {
	const (
		most        = "spec.memory.maxPerNode must be a quantity of at least 1Gi, as 16Gi"
		either      = "spec: Invalid value: spec has either pool or memory: the volumes of a node are in a ZFS pool, or in its memory"
		folder      = "spec.memory.volumes[].name must be lower-case letters, digits and '-': it names a folder of the node"
		hexadecimal = "spec.memory.volumes[].incarnation must be hexadecimal digits, as status.memory reports it"
		first       = "spec.memory.volumes[0]."
	)
	named := func(name string) []any { return []any{fields("name", name, "size", "1Gi")} }
	incarnated := func(text string) []any { return []any{fields("name", "pvc-1", "size", "1Gi", "incarnation", text)} }
	out := []row{
		memory("missing", unset("spec/memory"), "spec.memory: Required value: spec.memory is missing, but spec.type is Memory; set spec.memory.maxPerNode to the memory that volumes may take of a node"),
		memory("without nodeSelector", unset("spec/nodeSelector"), "spec.nodeSelector: Required value: spec.nodeSelector is missing, but spec.type provisions storage on nodes"),
		memory("with external", set("spec/external/storageClassName", "standard"), "spec.external: Forbidden: spec.external is set, but spec.type is another"),
		memory("maxPerNode missing", set("spec/memory", fields()), "spec.memory.maxPerNode: Required value"),
		memory("maxPerNode too small", set("spec/memory/maxPerNode", "1023Mi"), refusedValue("spec.memory.maxPerNode", `"1023Mi"`, most)),
		memory("maxPerNode with a wrong unit", set("spec/memory/maxPerNode", "4GB"), noQuantity("spec.memory.maxPerNode", "4GB")),
		memory("unknown field", set("spec/memory/swap", "Never"), `unknown field "spec.memory.swap"`),
		profile("External with memory", set("spec/memory/maxPerNode", "1Gi"), "spec.memory: Forbidden: spec.memory is set, but spec.type is another; remove it, or set spec.type to Memory"),
		nodeStorage("neither pool nor memory", unset("spec/pool"), either),
		nodeStorage("pool and memory", set("spec/memory", fields()), either),
		nodeStorage("pool to memory", set("spec/memory", fields()), "spec.pool.name are immutable").and(unset("spec/pool")).updated(),
		nodeMemory("257 volumes", inMemory(257), tooMany("spec.memory.volumes", 257, 256)),
		nodeMemory("a volume twice", append(named("pvc-1"), named("pvc-1")...), `spec.memory.volumes[1]: Duplicate value: {"name":"pvc-1"}`),
		nodeMemory("without name", []any{fields("size", "1Gi")}, first+"name: Required value"),
		nodeMemory("name empty", named(""), empty(first+"name")),
		nodeMemory("name too long", named(strings.Repeat("a", 64)), tooLong(first+"name", 63)),
		nodeMemory("without size", []any{fields("name", "pvc-1")}, first+"size: Required value"),
		nodeMemory("size with a wrong unit", []any{fields("name", "pvc-1", "size", "4GB")}, noQuantity(first+"size", "4GB")),
		nodeMemory("incarnation too long", incarnated(strings.Repeat("a", 33)), tooLong(first+"incarnation", 32)),
	}
	for _, name := range []string{"..", "a/b", "PVC-1", "a.b", "-a", "a b"} {
		out = append(out, nodeMemory("name "+name, named(name), refusedValue(first+"name", fmt.Sprintf("%q", name), folder)))
	}
	for _, text := range []string{"xyz", "../a", "AB"} {
		out = append(out, nodeMemory("incarnation "+text, incarnated(text), refusedValue(first+"incarnation", fmt.Sprintf("%q", text), hexadecimal)))
	}
	return out
}
