package hatch

import (
	"slices"
	"strings"
	"testing"
)

// TestRepeats shows what is open where it says what the spec says already, or where the
// spec leaves it to CloudNativePG.
func TestRepeats(t *testing.T) {
	quorum := app
	quorum.Quorum = true
	monitored := app
	monitored.PodMonitor = true
	const reserved = "not open to overrides: "
	for _, tc := range []struct {
		name, spec string
		of         Setting
		entries    []string
		want       string // "" is accepted
	}{
		{"the same names", `{bootstrap: {recovery: {database: app, owner: app, source: a}}, externalClusters: [{name: a}]}`, app, []string{"bootstrap.recovery", "externalClusters"}, ""},
		{"another database", `{bootstrap: {recovery: {database: other}}}`, app, []string{"bootstrap"}, "spec.cnpg.spec.bootstrap.recovery.database: " + reserved + "set spec.postgres.database"},
		{"another owner", `{bootstrap: {initdb: {owner: postgres}}}`, app, []string{"bootstrap"}, "spec.cnpg.spec.bootstrap.initdb.owner: " + reserved + "set spec.postgres.owner"},
		{"synchronous without Quorum", `{postgresql: {synchronous: {method: any, number: 1, dataDurability: preferred}, syncReplicaElectionConstraint: {enabled: true, nodeLabelsAntiAffinity: [zone]}}, minSyncReplicas: 1, maxSyncReplicas: 2}`, app, nil, ""},
		{"synchronous with Quorum", `{postgresql: {synchronous: {method: any, number: 1}}}`, quorum, []string{"postgresql"}, "spec.cnpg.spec.postgresql.synchronous: " + reserved + "with durability Quorum the operator chooses the standbys"},
		{"the old fields with Quorum", `{minSyncReplicas: 0}`, quorum, nil, "spec.cnpg.spec.minSyncReplicas: " + reserved},
		{"a constraint with Quorum", `{postgresql: {syncReplicaElectionConstraint: {enabled: true}}}`, quorum, nil, "spec.cnpg.spec.postgresql.syncReplicaElectionConstraint: " + reserved},
		{"CloudNativePG's PodMonitor", `{monitoring: {enablePodMonitor: true, podMonitorRelabelings: [{action: drop}]}}`, app, nil, ""},
		{"two PodMonitors", `{monitoring: {enablePodMonitor: true}}`, monitored, []string{"monitoring"}, "spec.cnpg.spec.monitoring.enablePodMonitor: " + reserved + "the operator makes the PodMonitor"},
		{"a cluster administrator's catalogue", `{imageCatalogRef: {apiGroup: postgresql.cnpg.io, kind: ClusterImageCatalog, name: a, major: 17}}`, app, nil, ""},
		{"a catalogue of the namespace", `{imageCatalogRef: {apiGroup: postgresql.cnpg.io, kind: ImageCatalog, name: a, major: 17}}`, app, nil, "ask a cluster administrator to add imageCatalogRef.kind"},
		{"the same by consent", `{imageCatalogRef: {apiGroup: postgresql.cnpg.io, kind: ImageCatalog, name: a, major: 17}}`, app, []string{"imageCatalogRef"}, ""},
		{"another major by consent", `{imageCatalogRef: {apiGroup: postgresql.cnpg.io, kind: ImageCatalog, name: a, major: 16}}`, app, []string{"imageCatalogRef"}, "spec.cnpg.spec.imageCatalogRef.major: " + reserved + "it is not the major of spec.postgres.version, 17"},
		{"a template of claims", `{storage: {resizeInUseVolumes: false, pvcTemplate: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, storageClassName: fast, resources: {requests: {storage: 1024Mi}}}}}`, app, nil, ""},
		{"another class", `{storage: {pvcTemplate: {storageClassName: slow}}}`, app, []string{"storage"}, "spec.cnpg.spec.storage.pvcTemplate.storageClassName: " + reserved + "set spec.profile"},
		{"another size", `{storage: {pvcTemplate: {resources: {requests: {storage: 2Gi}}}}}`, app, []string{"storage"}, "spec.cnpg.spec.storage.pvcTemplate.resources.requests: " + reserved + "set spec.storage"},
		{"a size that takes Go hours to compare", `{storage: {pvcTemplate: {resources: {requests: {storage: 1e2000000000}}}}}`, app, []string{"storage"}, "spec.cnpg.spec.storage.pvcTemplate.resources.requests: " + reserved + "set spec.storage"},
		{"a volume for WAL that the spec has not", `{walStorage: {pvcTemplate: {resources: {requests: {storage: 2Gi}}}}}`, app, nil, "spec.cnpg.spec.walStorage.pvcTemplate.resources.requests: " + reserved},
		{"data of another claim", `{storage: {pvcTemplate: {dataSource: {kind: PersistentVolumeClaim, name: victim}}}}`, app, nil, "ask a cluster administrator to add storage.pvcTemplate.dataSource"},
		{"data of another namespace", `{storage: {pvcTemplate: {dataSourceRef: {kind: PersistentVolumeClaim, name: victim, namespace: other}}}}`, app, nil, "ask a cluster administrator to add storage.pvcTemplate.dataSourceRef"},
		{"an existing volume", `{storage: {pvcTemplate: {volumeName: pv-of-others}}}`, app, nil, "ask a cluster administrator to add storage.pvcTemplate.volumeName"},
		{"existing volumes", `{storage: {pvcTemplate: {selector: {matchLabels: {a: b}}}}}`, app, nil, "ask a cluster administrator to add storage.pvcTemplate.selector"},
		{"a raw device", `{storage: {pvcTemplate: {volumeMode: Block}}}`, app, nil, "Postgres needs a file system"},
		{"harmless variables", `{env: [{name: TZ, value: UTC}, {name: AWS_REGION, value: a}]}`, app, nil, ""},
		{"any variable", `{env: [{name: A, value: b}]}`, app, nil, "A is not one of TZ"},
		{"any variable by consent", `{env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]}`, app, []string{"env"}, ""},
		{"a harmless name from a Secret", `{env: [{name: TZ, valueFrom: {secretKeyRef: {name: s, key: k}}}]}`, app, nil, "TZ is read from another object"},
		{"a library in every process", `{env: [{name: LD_PRELOAD, value: /usr/lib/libeatmydata.so}]}`, app, []string{"env"}, "spec.cnpg.spec.env[0]: " + reserved + "LD_PRELOAD changes what Postgres runs"},
		{"a variable of Postgres", `{env: [{name: pgoptions, value: -c fsync=off}]}`, app, []string{"env"}, "spec.cnpg.spec.env[0]: " + reserved},
		{"variables from anywhere", `{envFrom: [{secretRef: {name: s}}]}`, app, nil, "spec.cnpg.spec.envFrom[0].secretRef.name: it sets any variable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(Review(parse(t, tc.spec), tc.of, Consent{Profile: "fast", Entries: tc.entries}), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("refused %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestNeeds shows that consent to all that is needed opens a spec.
func TestNeeds(t *testing.T) {
	spec := parse(t, `{priorityClassName: a, env: [{name: A, value: b}], imageCatalogRef: {apiGroup: postgresql.cnpg.io, kind: ImageCatalog, name: a, major: 17}, affinity: {topologyKey: zone}}`)
	needs := Needs(spec, app)
	if want := []string{"env", "imageCatalogRef", "priorityClassName"}; !slices.Equal(needs, want) {
		t.Errorf("needs %q, want %q", needs, want)
	}
	if refused := Review(spec, app, Consent{Entries: needs}); len(refused) > 0 {
		t.Errorf("refused %s", refused)
	}
}
