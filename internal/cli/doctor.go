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
	c := doctorHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
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
	}
	o.flag(c)
	return c
}

// check reads the cluster and returns what doctor finds.
func (a *app) check(c *cobra.Command) ([]doctor.Finding, error) {
	facts, err := a.expected()
	if err != nil {
		return nil, err
	}
	connection, err := a.client()
	if err != nil {
		return nil, err
	}
	if facts.KubernetesVersion, err = a.serverVersion(); err != nil {
		return nil, err
	}
	namespace, err := a.namespace()
	if err != nil {
		return nil, err
	}
	if facts, err = (gather.Reader{Reader: connection}).Doctor(c.Context(), connection, namespace, facts); err != nil {
		return nil, err
	}
	pages, err := openRunbooks()
	if err != nil {
		return nil, err
	}
	return doctor.Check(facts, pages), nil
}

// serverVersion returns the version of Kubernetes, such as v1.36.3.
func (a *app) serverVersion() (string, error) {
	discovery, err := a.config.ToDiscoveryClient()
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	server, err := discovery.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("the API server does not answer: %w", err)
	}
	return server.GitVersion, nil
}

// expected returns the facts that this version of the program expects of a cluster.
func (a *app) expected() (doctor.Facts, error) {
	facts := doctor.Facts{PluginVersion: a.version, ExpectedRole: &rbacv1.ClusterRole{}}
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		return facts, err
	}
	facts.ExpectedCRDs = schemas.Definitions()
	if err := yaml.UnmarshalStrict(rbac.ManagerRole, facts.ExpectedRole); err != nil {
		return facts, fmt.Errorf("parse the ClusterRole of the manager: %w", err)
	}
	return facts, nil
}
