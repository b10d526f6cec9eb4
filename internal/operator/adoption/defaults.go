package adoption

import (
	"fmt"
	"maps"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

// custom is the spec of a Cluster without what CloudNativePG sets automatically: the
// defaults of its CRD, and those of its webhook.
func custom(live *unstructured.Unstructured, typed *cnpgv1.Cluster) (map[string]any, error) {
	spec, _, err := unstructured.NestedMap(live.Object, "spec")
	if err != nil {
		return nil, fmt.Errorf("read spec of CloudNativePG Cluster %s: %w", live.GetName(), err)
	}
	if spec, err = hatch.WithoutDefaults(spec); err != nil {
		return nil, err
	}
	defaults, err := byWebhook(typed)
	if err != nil {
		return nil, err
	}
	subtract(spec, defaults)
	return spec, nil
}

// byWebhook is what CloudNativePG's defaulting webhook makes of a Cluster of this image and
// bootstrap that sets nothing else.
func byWebhook(typed *cnpgv1.Cluster) (map[string]any, error) {
	bare := &cnpgv1.Cluster{}
	bare.Spec.ImageName, bare.Spec.ImageCatalogRef = typed.Spec.ImageName, typed.Spec.ImageCatalogRef
	if b := typed.Spec.Bootstrap; b != nil {
		bare.Spec.Bootstrap = &cnpgv1.BootstrapConfiguration{}
		if b.Recovery != nil {
			bare.Spec.Bootstrap.Recovery = &cnpgv1.BootstrapRecovery{}
		}
		if b.PgBaseBackup != nil {
			bare.Spec.Bootstrap.PgBaseBackup = &cnpgv1.BootstrapPgBaseBackup{}
		}
	}
	if typed.Spec.Backup != nil {
		bare.Spec.Backup = &cnpgv1.BackupConfiguration{}
	}
	bare.Default()
	bare.Spec.ImageName, bare.Spec.ImageCatalogRef, bare.Spec.PostgresConfiguration.Synchronous = "", nil, nil
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(bare)
	if err != nil {
		return nil, fmt.Errorf("write CloudNativePG's defaults: %w", err)
	}
	spec, _, err := unstructured.NestedMap(raw, "spec")
	return spec, err
}

// defaultImage of CloudNativePG.
func defaultImage() string {
	bare := &cnpgv1.Cluster{}
	bare.Default()
	return bare.Spec.ImageName
}

// subtract removes values that are the defaults.
func subtract(spec, defaults map[string]any) {
	for name, value := range maps.Clone(spec) {
		d, found := defaults[name]
		if !found {
			continue
		}
		child, isMap := value.(map[string]any)
		below, both := d.(map[string]any)
		if !isMap || !both {
			if naming.Hash(value) == naming.Hash(d) {
				delete(spec, name)
			}
			continue
		}
		if len(child) == 0 && len(below) > 0 {
			continue
		}
		if subtract(child, below); len(child) == 0 {
			delete(spec, name)
		}
	}
}
