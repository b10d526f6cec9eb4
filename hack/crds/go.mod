// Modules that are needed for the CRDs in them only, never imported.
module github.com/pgstorage/pgstorage/hack/crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.93.0

require github.com/openebs/zfs-localpv v1.9.3

require github.com/kubernetes-csi/external-snapshotter/client/v8 v8.2.0

require github.com/rook/rook v1.20.6

require github.com/cloudnative-pg/plugin-barman-cloud v0.15.0
