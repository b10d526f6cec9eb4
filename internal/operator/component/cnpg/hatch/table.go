package hatch

// ours are the fields that this API sets or that would undo its safety rules.
var ours = []rule{
	{path: "instances", verdict: never, why: "set spec.instances"},
	{path: "imageName", verdict: never, why: "set spec.postgres.version or spec.postgres.image"},
	{path: "resources", verdict: never, why: "set spec.resources: parameters are computed from it"},
	{path: "postgresql.parameters", verdict: never, why: "set spec.postgres.parameters, which are checked"},
	{path: "bootstrap.initdb.options", verdict: never, why: "initdb's options could turn checksums or fsync off; set the single fields of bootstrap.initdb"},
	{path: "replica", verdict: never, why: "a replica cluster follows another primary, whose durability tier this object could not state"},
}

// placement of the pods.
var placement = []rule{
	{path: "affinity.enablePodAntiAffinity", verdict: open, why: "spreads the own instances"},
	{path: "affinity.podAntiAffinityType", verdict: open, why: "spreads the own instances"},
	{path: "affinity.topologyKey", verdict: open, why: "spreads the own instances"},
	{path: "affinity.nodeSelector", verdict: open, why: "narrows where the own pods run"},
	{path: "affinity.nodeAffinity", verdict: open, why: "narrows where the own pods run"},
	{path: "affinity.tolerations[]", verdict: open, why: "opens nodes by a taint that is named", check: toleration},
	{path: "affinity.tolerations", verdict: open, why: "a list of those above"},
	{path: "affinity.additionalPodAffinity", verdict: open, why: "narrows where the own pods run"},
	{path: "affinity.additionalPodAntiAffinity", verdict: open, why: "keeps away pods of the own namespace alone"},
	{path: "affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].namespaces", verdict: consent, why: "it keeps pods of other namespaces off the nodes of this database"},
	{path: "affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].namespaceSelector", verdict: consent, why: "it keeps pods of other namespaces off the nodes of this database"},
	{path: "affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.namespaces", verdict: consent, why: "it keeps pods of other namespaces off the nodes of this database"},
	{path: "affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.namespaceSelector", verdict: consent, why: "it keeps pods of other namespaces off the nodes of this database"},
	{path: "topologySpreadConstraints", verdict: open, why: "spreads the own instances"},
	{path: "nodeMaintenanceWindow", verdict: open, why: "how the own instances leave a node"},
	{path: "enablePDB", verdict: open, why: "availability of the own database"},
	{path: "schedulerName", verdict: consent, why: "another scheduler places pods by rules of its own"},
	{path: "priorityClassName", verdict: consent, why: "a high priority evicts pods of other namespaces"},
}

// pods: what they may do, and what they are given.
var pods = []rule{
	{path: "securityContext", verdict: consent, why: "it decides the privileges of the containers on their node"},
	{path: "podSecurityContext", verdict: consent, why: "it decides the user, groups and kernel settings of the pod on its node"},
	{path: "seccompProfile.type", verdict: open, why: "the runtime's own filter is CloudNativePG's default", check: only("RuntimeDefault", "another filter of system calls than the runtime's weakens the container")},
	{path: "seccompProfile", verdict: consent, why: "another filter of system calls than the runtime's weakens the container"},
	{path: "postgresUID", verdict: consent, why: "it is the user of the containers on their node, root if 0"},
	{path: "postgresGID", verdict: consent, why: "it is the group of the containers on their node, root if 0"},
	{path: "serviceAccountName", verdict: consent, why: "the pods get the rights of that ServiceAccount"},
	{path: "serviceAccountTemplate", verdict: consent, why: "annotations of a ServiceAccount give its pods a role in the cloud"},
	{path: "projectedVolumeTemplate", verdict: consent, why: "it mounts Secrets and tokens, whether or not the author may read them"},
	{path: "ephemeralVolumeSource", verdict: consent, why: "it makes volumes of any StorageClass, and copies of other claims"},
	{path: "ephemeralVolumesSizeLimit", verdict: open, why: "bounds the pod's own scratch space"},
	{path: "imagePullPolicy", verdict: open, why: "when the image is pulled"},
	{path: "imagePullSecrets", verdict: consent, why: "it uses a Secret at a registry, whether or not the author may read it"},
	{path: "inheritedMetadata", verdict: consent, why: "Services select pods by labels, and other controllers obey annotations"},
	{path: "plugins", verdict: consent, why: "a plugin changes pods and acts on objects of the namespace with rights of its own"},
	{path: "probes", verdict: open, why: "when the own instances count as started, ready and alive"},
	{path: "probes.liveness.isolationCheck", verdict: consent, why: "without the check as CloudNativePG sets it, an isolated primary may go on acknowledging commits"},
	{path: "primaryLease", verdict: consent, why: "these times keep two primaries apart"},
	{path: "livenessProbeTimeout", verdict: open, why: "when the own instances count as alive"},
	{path: "startDelay", verdict: open, why: "how long the own instances may take"},
	{path: "stopDelay", verdict: open, why: "how long the own instances may take"},
	{path: "smartShutdownTimeout", verdict: open, why: "how long the own instances may take"},
	{path: "switchoverDelay", verdict: open, why: "how long the own instances may take"},
	{path: "failoverDelay", verdict: open, why: "when the own primary is replaced"},
	{path: "primaryUpdateMethod", verdict: open, why: "how the own primary is updated"},
	{path: "primaryUpdateStrategy", verdict: open, why: "who updates the own primary"},
	{path: "logLevel", verdict: open, why: "to read logs is another right"},
	{path: "description", verdict: open, why: "text"},
}
