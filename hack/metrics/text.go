package main

const head = `# Metrics

` + "`make generate`" + ` writes this page from the collectors. [Monitoring](monitoring.md) explains how Prometheus reads them, and what the alerts and
dashboards make of them.
`

const managerText = `HTTPS on port 8443 of the manager, for those who may get the nonResourceURL ` + "`/metrics`" + `. Series are read from the manager's cache on each
scrape and end with their object. Each replica of the manager reports the same: aggregate with ` + "`max by`" + `.

Cardinality: a PgStorageCluster has about 25 series, plus one for each volume (at most 64). A PgStorageProfile has about 12, a PgNodeStorage about 20
and a node 6. Objects beyond 2,000 of a kind have none and are counted; namespaces take turns. Reasons are those of [the reference](spec/pgstoragecluster.md#conditions).

The same port has the metrics of [controller-runtime](https://book.kubebuilder.io/reference/metrics-reference), such as
` + "`controller_runtime_reconcile_errors_total` and `workqueue_depth`" + `.`

const agentText = `HTTPS on port 8443 of each agent, with the same right. The chart's ServiceMonitor adds the label ` + "`node`" + `. ` + "`storage`" + ` is the name of the
PgNodeStorage.`

const serverText = `HTTP on the port ` + "`metrics`" + ` of each server of a profile of type S3NBD. The chart's PodMonitor adds the labels ` + "`node`, `profile` and `store`" + `.
ZeroFS has metrics of its own on the port ` + "`zerofs`" + `.`

const instanceText = `Port 9187 of each instance, beside CloudNativePG's own metrics
(https://cloudnative-pg.io/documentation/current/monitoring/). The operator's queries add these. The PodMonitor of each PgStorageCluster adds
` + "`namespace` and `pod`" + `.`
