package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/config/rbac"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/doctor"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

func (a *app) doctor() *cobra.Command {
	o := &output{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that a cluster has what pgstorage needs",
		Long: `Check that a cluster has what pgstorage needs, before and while it is used.

CRDs and their versions, the operator, its agents and its rights, CloudNativePG,
CSI drivers, nodes, kernel modules and pools as the agents report them, and what
you may do. Only what the profiles that exist need is a failure. Each finding
that is not OK has a remedy and a link to the documentation.

Nothing is changed. What you may not read is said to be not looked at. The exit
code is 1 if there is a failure, or if nothing could be asked at all.`,
		Example: `  kubectl pgstorage doctor
  kubectl pgstorage doctor -o json | jq '.[] | select(.level == "Failure")'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			findings, err := a.check(c)
			if err != nil {
				return err
			}
			if err := o.print(a.streams.Out, findings, plain(doctor.Text(findings, a.style()))); err != nil {
				return err
			}
			if doctor.Failures(findings) > 0 {
				return ErrFindings
			}
			return nil
		},
	}
	o.flag(c)
	return c
}

func (a *app) check(c *cobra.Command) ([]doctor.Finding, error) {
	facts, err := a.wanted()
	if err != nil {
		return nil, err
	}
	connection, err := a.client()
	if err != nil {
		return nil, err
	}
	discovery, err := a.config.ToDiscoveryClient()
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	server, err := discovery.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("the API server does not answer: %w", err)
	}
	facts.Kubernetes = server.GitVersion
	namespace, err := a.namespace()
	if err != nil {
		return nil, err
	}
	if facts, err = (gather.Reader{Reader: connection}).Doctor(c.Context(), connection, namespace, facts); err != nil {
		return nil, err
	}
	pages, err := book()
	if err != nil {
		return nil, err
	}
	return doctor.Check(facts, pages), nil
}

// wanted is what this version of the program expects.
func (a *app) wanted() (doctor.Facts, error) {
	facts := doctor.Facts{Plugin: a.version, WantedRole: &rbacv1.ClusterRole{}}
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		return facts, err
	}
	facts.Wanted = schemas.Definitions()
	if err := yaml.UnmarshalStrict(rbac.ManagerRole, facts.WantedRole); err != nil {
		return facts, fmt.Errorf("role of the manager: %w", err)
	}
	return facts, nil
}
