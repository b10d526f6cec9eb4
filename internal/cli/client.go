package cli

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/gather"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

// client of the cluster that kubeconfig and flags name.
func (a *app) client() (client.WithWatch, error) {
	config, err := a.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	config.UserAgent = "kubectl-pgstorage/" + a.version
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return c, nil
}

// reader of the same cluster.
func (a *app) reader() (gather.Reader, error) {
	c, err := a.client()
	return gather.Reader{Reader: c}, err
}

// namespace that kubeconfig and flags name.
func (a *app) namespace() (string, error) {
	namespace, _, err := a.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	return namespace, nil
}

// key of an object in the namespace.
func (a *app) key(name string) (client.ObjectKey, error) {
	namespace, err := a.namespace()
	return client.ObjectKey{Namespace: namespace, Name: name}, err
}

// style of the output: colours are for terminals, and not where NO_COLOR is set.
func (a *app) style() view.Style {
	return view.Style{Colour: printers.AllowsColorOutput(a.streams.Out)}
}
