package hatch

// Reasons that several fields share.
const (
	superuserSQL = "it runs SQL as superuser, and a superuser runs programs in the pod with the rights of its ServiceAccount"
	otherData    = "it copies another database or volume, whether or not the author may read it"
	shell        = "such a role reads files or runs programs in the pod, or becomes one that does"
)

// database: how Postgres is made and what it loads.
var database = []rule{
	{path: "bootstrap.initdb.encoding", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.builtinLocale", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.icuLocale", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.icuRules", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.locale", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.localeCType", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.localeCollate", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.localeProvider", verdict: open, why: "text of the own database"},
	{path: "bootstrap.initdb.walSegmentSize", verdict: open, why: "files of the own database"},
	{path: "bootstrap.initdb.secret", verdict: open, why: "sets the owner's password, and never shows it"},
	{path: "bootstrap.initdb.import", verdict: consent, why: "it restores as superuser what another server says; " + superuserSQL},
	{path: "bootstrap.initdb.postInitSQL", verdict: consent, why: superuserSQL},
	{path: "bootstrap.initdb.postInitSQLRefs", verdict: consent, why: superuserSQL},
	{path: "bootstrap.initdb.postInitTemplateSQL", verdict: consent, why: superuserSQL},
	{path: "bootstrap.initdb.postInitTemplateSQLRefs", verdict: consent, why: superuserSQL},
	{path: "bootstrap.initdb.postInitApplicationSQL", verdict: consent, why: superuserSQL},
	{path: "bootstrap.initdb.postInitApplicationSQLRefs", verdict: consent, why: superuserSQL},
	{path: "bootstrap.recovery", verdict: consent, why: otherData},
	{path: "bootstrap.pg_basebackup", verdict: consent, why: otherData},
	{path: "postgresql.shared_preload_libraries[]", verdict: open, why: "libraries of the image, by name", check: library},
	{path: "postgresql.shared_preload_libraries", verdict: open, why: "a list of those above"},
	{path: "postgresql.extensions", verdict: consent, why: "Postgres runs the code of that image"},
	{path: "postgresql.promotionTimeout", verdict: open, why: "how long the own instances may take"},
	{path: "replicationSlots", verdict: open, why: "slots of the own standbys"},
	{path: "tablespaces", verdict: consent, why: "their volumes are of any StorageClass, and not read back"},
}

// data that leaves the pods or comes to them.
var data = []rule{
	{path: "backup.target", verdict: open, why: "which own instance is copied"},
	{path: "backup.retentionPolicy", verdict: open, why: "of own backups"},
	{path: "backup.volumeSnapshot", verdict: open, why: "snapshots of the own volumes"},
	{path: "backup.volumeSnapshot.annotations", verdict: consent, why: "other controllers obey annotations"},
	{path: "backup.volumeSnapshot.labels", verdict: consent, why: "other controllers select by labels"},
	{path: "backup.barmanObjectStore", verdict: consent, why: "it sends parts of any Secret of the namespace, or the role of the node, to a host of the author's choice"},
	{path: "externalClusters", verdict: consent, why: "it sends any Secret of the namespace to a host of the author's choice, and reads databases with other people's certificates"},
	{path: "monitoring.tls", verdict: open, why: "encrypts metrics"},
	{path: "monitoring.customQueriesConfigMap", verdict: open, why: "run as a role that only monitors"},
	{path: "monitoring.customQueriesSecret", verdict: consent, why: "it reads any Secret of the namespace"},
	{path: "monitoring.disableDefaultQueries", verdict: open, why: "the default", check: only(false, "the operator reads parameters back through the default queries")},
	{path: "monitoring.metricsQueriesTTL", verdict: consent, why: "the operator would read old values back"},
	{path: "managed.services.disabledDefaultServices", verdict: open, why: "fewer Services"},
	{path: "managed.services.additional", verdict: open, why: "a list of those below"},
	{path: "managed.services.additional[].selectorType", verdict: open, why: "which own instances a Service leads to"},
	{path: "managed.services.additional[].updateStrategy", verdict: open, why: "how the own Service is updated"},
	{path: "managed.services.additional[].serviceTemplate", verdict: consent, why: "ports of nodes, addresses and names that a Service takes are not the namespace's own, and other controllers obey its annotations"},
	{path: "managed.services.additional[].serviceTemplate.metadata.name", verdict: open, why: "CloudNativePG leaves Services alone that are not the Cluster's"},
	{path: "managed.services.additional[].serviceTemplate.spec.type", verdict: open, why: "an address within the cluster", check: only("ClusterIP", "it opens the database to other networks, or leads clients to another name")},
}

// access to Postgres.
var access = []rule{
	{path: "enableSuperuserAccess", verdict: open, why: "the default", check: only(false, "a superuser runs programs in the pod with the rights of its ServiceAccount")},
	{path: "superuserSecret", verdict: consent, why: "it sets the superuser's password"},
	{path: "certificates.serverAltDNSNames", verdict: open, why: "names in a certificate of the own authority"},
	{path: "certificates", verdict: consent, why: "with another authority or certificate of the namespace, the pods pass for other databases or let other clients in"},
	{path: "postgresql.pg_hba[]", verdict: open, why: "rules that ask for a password or a certificate", check: hba},
	{path: "postgresql.pg_hba", verdict: open, why: "a list of those above"},
	{path: "postgresql.pg_ident", verdict: consent, why: "a map lets one name pass for another, such as the superuser"},
	{path: "postgresql.ldap", verdict: consent, why: "the author's server would decide who is superuser"},
	{path: "podSelectorRefs", verdict: open, why: "addresses in pg_hba, of pods of the namespace"},
	{path: "managed.roles", verdict: open, why: "a list of those below"},
	{path: "managed.roles[].name", verdict: open, why: "roles of the own database", check: roleName},
	{path: "managed.roles[].comment", verdict: open, why: "text"},
	{path: "managed.roles[].connectionLimit", verdict: open, why: "bounds the role"},
	{path: "managed.roles[].createdb", verdict: open, why: "databases on the own volume"},
	{path: "managed.roles[].disablePassword", verdict: open, why: "closes a role"},
	{path: "managed.roles[].ensure", verdict: open, why: "roles of the own database"},
	{path: "managed.roles[].inherit", verdict: open, why: "of roles that it may be in"},
	{path: "managed.roles[].login", verdict: open, why: "by password, as pg_hba asks"},
	{path: "managed.roles[].passwordSecret", verdict: open, why: "sets the role's password, and never shows it"},
	{path: "managed.roles[].validUntil", verdict: open, why: "bounds the role"},
	{path: "managed.roles[].inRoles[]", verdict: open, why: "roles of the list, the owner, and roles of Postgres that neither reach files nor run programs", check: membership},
	{path: "managed.roles[].inRoles", verdict: open, why: "a list of those above"},
	{path: "managed.roles[].superuser", verdict: open, why: "the default", check: only(false, shell)},
	{path: "managed.roles[].replication", verdict: open, why: "the default", check: only(false, "such a role copies the whole cluster with the passwords in it")},
	{path: "managed.roles[].bypassrls", verdict: open, why: "the default", check: only(false, "such a role reads rows that policies hide")},
	{path: "managed.roles[].createrole", verdict: open, why: "the default", check: only(false, shell)},
}
