package hatch

// repeated are fields of which this API sets the value, or the value says how they may be
// set. They are open where they say the same, so that a Cluster can be described as it is.
var repeated = []rule{
	{path: "bootstrap.initdb.database", verdict: never, why: "set spec.postgres.database", check: sameDatabase},
	{path: "bootstrap.initdb.owner", verdict: never, why: "set spec.postgres.owner", check: sameOwner},
	{path: "bootstrap.recovery.database", verdict: never, why: "set spec.postgres.database", check: sameDatabase},
	{path: "bootstrap.recovery.owner", verdict: never, why: "set spec.postgres.owner", check: sameOwner},
	{path: "bootstrap.pg_basebackup.database", verdict: never, why: "set spec.postgres.database", check: sameDatabase},
	{path: "bootstrap.pg_basebackup.owner", verdict: never, why: "set spec.postgres.owner", check: sameOwner},
	{path: "bootstrap.initdb.dataChecksums", verdict: never, why: "data checksums are on unless spec.defaults is CloudNativePG", check: checksums},
	{path: "postgresql.enableAlterSystem", verdict: never, why: "ALTER SYSTEM would change parameters behind the checks; set spec.postgres.parameters", check: only(false, "ALTER SYSTEM would change parameters behind the checks; set spec.postgres.parameters")},
	{path: "minSyncReplicas", verdict: never, why: "set spec.quorum, which replaces it; without durability Quorum it may be set", check: withoutQuorum},
	{path: "maxSyncReplicas", verdict: never, why: "set spec.quorum, which replaces it; without durability Quorum it may be set", check: withoutQuorum},
	{path: "postgresql.synchronous", verdict: never, why: "set spec.quorum, which replaces it; without durability Quorum it may be set", check: withoutQuorum},
	{path: "postgresql.syncReplicaElectionConstraint", verdict: never, why: "set spec.quorum.acrossFailureDomain, which replaces it; without durability Quorum it may be set", check: withoutQuorum},
	{path: "monitoring.enablePodMonitor", verdict: never, why: "set spec.monitoring.podMonitor; with Disabled this field may be set", check: withoutPodMonitor},
	{path: "monitoring.podMonitorMetricRelabelings", verdict: never, why: "the PodMonitor is the operator's, so it has no effect; remove it, or set spec.monitoring.podMonitor: Disabled", check: withoutPodMonitor},
	{path: "monitoring.podMonitorRelabelings", verdict: never, why: "the PodMonitor is the operator's, so it has no effect; remove it, or set spec.monitoring.podMonitor: Disabled", check: withoutPodMonitor},
	{path: "imageCatalogRef", verdict: consent, why: "the catalogue chooses the image, whose processes get the rights of the instances"},
	{path: "imageCatalogRef.apiGroup", verdict: open, why: "the only value"},
	{path: "imageCatalogRef.name", verdict: open, why: "names the catalogue"},
	{path: "imageCatalogRef.kind", verdict: open, why: "a cluster administrator writes ClusterImageCatalogs", check: only("ClusterImageCatalog", "users who may write an ImageCatalog of the namespace choose the image, and its processes get the rights of the instances")},
	{path: "imageCatalogRef.major", verdict: never, why: "set spec.postgres.version, which decides the parameters that exist; the same major may be repeated", check: sameMajor},
}

// volumes: what of a volume is not its size and its class.
var volumes = volumeRules("storage", "walStorage")

func volumeRules(fields ...string) []rule {
	size := map[string]string{"storage": "set spec.storage.size", "walStorage": "set spec.storage.walSize"}
	var out []rule
	for _, f := range fields {
		template := f + ".pvcTemplate"
		out = append(out,
			rule{path: f + ".size", verdict: never, why: size[f]},
			rule{path: f + ".storageClass", verdict: never, why: "set spec.profile"},
			rule{path: f + ".resizeInUseVolumes", verdict: open, why: "whether volumes grow while they are in use"},
			rule{path: template + ".accessModes", verdict: open, why: "how the own volumes are mounted"},
			rule{path: template + ".volumeMode", verdict: never, why: "Postgres needs a file system; remove it", check: only("Filesystem", "Postgres needs a file system")},
			rule{path: template + ".storageClassName", verdict: never, why: "set spec.profile; the same class may be repeated", check: sameClass(f)},
			rule{path: template + ".resources.requests", verdict: never, why: size[f] + "; the same size may be repeated", check: sameRequest(f)},
			rule{path: template + ".resources.limits", verdict: never, why: "a volume has the size of its request; remove it"},
			rule{path: template + ".selector", verdict: consent, why: "it takes existing volumes, with the data of others on them"},
			rule{path: template + ".volumeName", verdict: consent, why: "it takes an existing volume, with the data of others on it"},
			rule{path: template + ".dataSource", verdict: consent, why: otherData},
			rule{path: template + ".dataSourceRef", verdict: consent, why: otherData},
			rule{path: template + ".volumeAttributesClassName", verdict: consent, why: "it changes the performance of volumes behind the profile"},
		)
	}
	return out
}

// environment of the processes of an instance. CloudNativePG itself refuses names that
// begin with PG or CNPG_, POD_NAME, NAMESPACE and CLUSTER_NAME.
var environment = []rule{
	{path: "env[]", verdict: open, why: "variables that change neither Postgres nor the programs it runs", check: variable, forbid: loader},
	{path: "env", verdict: open, why: "a list of those above"},
	{path: "envFrom", verdict: consent, why: "it sets any variable from objects that others change, such as LD_PRELOAD, and gives the pods any Secret of the namespace"},
}
