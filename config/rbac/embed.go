// Package rbac holds the manager's ClusterRole, for programs that compare it with the
// one of a cluster.
package rbac

import _ "embed" // the role

// ManagerRole is the ClusterRole pgstorage-manager as YAML.
//
//go:embed role.yaml
var ManagerRole []byte
