package cli

import (
	"context"
	"fmt"

	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/gather"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

// client returns a client for the cluster that the kubeconfig and the flags select.
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

// connect returns a client and the namespace that the kubeconfig and the flags select.
func (a *app) connect() (client.WithWatch, string, error) {
	c, err := a.client()
	if err != nil {
		return nil, "", err
	}
	namespace, err := a.namespace()
	return c, namespace, err
}

// reader returns a reader of the same cluster.
func (a *app) reader() (gather.Reader, error) {
	c, err := a.client()
	return gather.Reader{Reader: c}, err
}

// namespace returns the namespace that the kubeconfig and the flags select.
func (a *app) namespace() (string, error) {
	namespace, _, err := a.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	return namespace, nil
}

// object returns a reader of the cluster and the key of an object in the namespace.
func (a *app) object(name string) (gather.Reader, client.ObjectKey, error) {
	namespace, err := a.namespace()
	if err != nil {
		return gather.Reader{}, client.ObjectKey{}, err
	}
	r, err := a.reader()
	return r, client.ObjectKey{Namespace: namespace, Name: name}, err
}

// style returns the style of the output: coloured on a terminal unless NO_COLOR is set.
func (a *app) style() view.Style {
	return view.Style{Colour: printers.AllowsColorOutput(a.streams.Out)}
}

// list reads the objects of the namespace, or of all, and returns that namespace; "" is
// all of them.
func (a *app) list(ctx context.Context, into client.ObjectList, all bool) (string, error) {
	namespace, err := a.namespace()
	if err != nil {
		return "", err
	}
	if all {
		namespace = ""
	}
	r, err := a.reader()
	if err != nil {
		return "", err
	}
	return namespace, r.List(ctx, into, client.InNamespace(namespace))
}
