package crd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// validS3 are profiles of the type S3NBD, and what they declare in a PgNodeStorage, at
// the edges.
var validS3 = []edge{
	{"a stripe", "S3NBD", nil},
	{"a mirror", "S3NBD", mirrored()},
	{"a mirror that waits least", "S3NBD", append(mirrored(), set(s3Spec+"requestTimeout", "10s"))},
	{"a mirror that waits most", "S3NBD", append(mirrored(), set(s3Spec+"requestTimeout", "1h"))},
	{"images from elsewhere, lower class", "S3NBD", []change{set(s3Spec+"zeroFS/imagePullSecrets", namesLike("registry", 8)), set(s3Spec+"zeroFS/priorityClassName", "storage")}},
	{"most stores", "S3NBD", []change{set(s3Spec+"layout", "mirror"), set(s3Spec+"stores", []any{storeOf("a", "acme-a"), storeOf("b", "acme-b"), storeOf("c", "acme-c"), storeOf("abcdefghijklmno1", "acme-d")})}},
	{"one bucket's name at two endpoints", "S3NBD", []change{set(s3Spec+"layout", "mirror"), set(s3Spec+"stores", []any{storeOf("a", "acme"), fields("name", "b", "bucket", "acme", "prefix", "pg", "endpoint", "https://minio.example:9000/", "credentialsSecret", "keys", "encryptionSecret", "zerofs")})}},
	{"http that is accepted", "S3NBD", []change{set(s3Spec+"stores/0/endpoint", "http://minio.storage.svc:9000"), set(s3Spec+"stores/0/allowHTTP", true)}},
	{"longest bucket and prefix", "S3NBD", []change{set(s3Spec+"stores/0/bucket", strings.Repeat("b", 63)), set(s3Spec+"stores/0/prefix", strings.Repeat("p", 64)+"/"+strings.Repeat("q", 63))}},
	{"local disks", "S3NBD", []change{set(s3Spec+"l2arc", fields("device", disk("cache"))), set(s3Spec+"slog", fields("devices", disks(2), "acceptLoss", true)), set(s3Spec+"arcMax", "64Mi")}},
	{"image by digest", "S3NBD", []change{set(s3Spec+"zeroFS/image", "ghcr.io/barre/zerofs@sha256:"+strings.Repeat("0", 64))}},
	{"image of a registry with a port", "S3NBD", []change{set(s3Spec+"zeroFS/image", "registry:5000/zerofs:2.3.0")}},
	{"least of everything", "S3NBD", []change{
		set(s3Spec+"devices", fields("count", 1, "size", "1Gi")), set(s3Spec+"pool/ashift", 12), set(s3Spec+"pool/headroomPercent", 5),
		set(s3Spec+"zeroFS/flushInterval", "5s"), set(s3Spec+"zeroFS/resources", fields("cpu", "100m", "memory", "1Gi")), set(s3Spec+"zeroFS/cache", fields("hostPath", "/c", "size", "2Gi", "memory", "64Mi")),
	}},
	{"most of everything", "S3NBD", []change{
		set(s3Spec+"devices", fields("count", 8, "size", "64Ti")), set(s3Spec+"pool/ashift", 15), set(s3Spec+"pool/headroomPercent", 50),
		set(s3Spec+"zeroFS/flushInterval", "10m"), set(s3Spec+"zeroFS/resources/memory", "2Gi"), set(s3Spec+"zeroFS/cache/memory", "1Gi"), set(s3Spec+"onServerLost", "RebootNode"), set(s3Spec+"driftPolicy", "Report"),
	}},
	{"sizes in bare numbers", "S3NBD", []change{set(s3Spec+"devices/size", 1<<30), set(s3Spec+"zeroFS/resources", fields("cpu", 2, "memory", 1<<31)), set(s3Spec+"arcMax", 1<<30)}},
}

// s3Defaults are what comes out where only what is required is named.
var s3Defaults = []change{
	set(s3Spec+"layout", "stripe"), set(s3Spec+"onServerLost", "Wait"), set(s3Spec+"driftPolicy", "Repair"),
	set(s3Spec+"pool/ashift", 12), set(s3Spec+"pool/autotrim", "on"), set(s3Spec+"pool/failmode", "wait"), set(s3Spec+"pool/headroomPercent", 20),
	set(s3Spec+"stores/0/region", "us-east-1"), set(s3Spec+"stores/0/pathStyle", true),
	set(s3Spec+"devices/count", 3),
	set(s3Spec+"zeroFS/flushInterval", "30s"), set(s3Spec+"zeroFS/priorityClassName", "system-node-critical"), set(s3Spec+"zeroFS/resources", fields("cpu", "1", "memory", "2Gi")),
	set(s3Spec+"zeroFS/cache", fields("hostPath", "/var/lib/pgstorage/zerofs", "size", "10Gi", "memory", "256Mi")),
	set(s3Spec+"data", parentDefaults("recordsize", "8k", "secondarycache", "all")),
	set(s3Spec+"wal", parentDefaults("recordsize", "32k", "secondarycache", "none")),
}

// TestValidChangesOfS3NBDAreAccepted changes what may change of a profile.
func TestValidChangesOfS3NBDAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	i := 0
	for name, r := range map[string]row{
		"devices grow":                  {change: []change{set(s3Spec+"devices/size", "200Gi")}},
		"equal size, other unit":        {change: []change{set(s3Spec+"devices/size", "102400Mi")}},
		"a newer image":                 {change: []change{set(s3Spec+"zeroFS/image", "ghcr.io/barre/zerofs:2.4.0")}},
		"L2ARC added":                   {change: []change{set(s3Spec+"l2arc", fields("device", disk("cache")))}},
		"L2ARC removed":                 {before: []change{set(s3Spec+"l2arc", fields("device", disk("cache")))}, change: []change{unset(s3Spec + "l2arc")}},
		"log removed":                   {before: []change{set(s3Spec+"slog", fields("devices", disks(1), "acceptLoss", true))}, change: []change{unset(s3Spec + "slog")}},
		"stores in another order":       {before: mirrored(), change: []change{set(s3Spec+"stores", []any{storeOf("b", "acme-b"), storeOf("a", "acme-a")})}},
		"other keys":                    {change: []change{set(s3Spec+"stores/0/credentialsSecret", "new-keys")}},
		"another address of the store":  {change: []change{set(s3Spec+"stores/0/endpoint", "https://s3.example")}},
		"requests that wait for longer": {before: mirrored(), change: []change{set(s3Spec+"requestTimeout", "30m")}},
		"requests that wait by default": {before: append(mirrored(), set(s3Spec+"requestTimeout", "30m")), change: []change{unset(s3Spec + "requestTimeout")}},
		"nodes restarted by the agent":  {change: []change{set(s3Spec+"onServerLost", "RebootNode")}},
		"recordsize":                    {change: []change{set(s3Spec+"data/recordsize", "16k")}},
		"other nodes":                   {change: []change{set("spec/nodeSelector", fields("disk", "nvme"))}},
	} {
		i++
		t.Run(name, func(t *testing.T) {
			object := base(t, "S3NBD", slices.Clone(r.before)...)
			object.SetName(fmt.Sprintf("change-s3-%d", i))
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			edit(t, object, r.change...)
			if err := c.Update(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}
