package apiextensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	v1 "apigen.dev/runtime/builtin/apiextensions/v1"
	"apigen.dev/runtime/builtin/apiextensions/wiring"
	"apigen.dev/runtime/internal/custom/dynamic"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Migrate implements server.Migrating: it migrates the objects of all definitions. While the objects of a definition
// are in several versions, the definition has the condition StorageMigrating, and the storage version alone is in its
// status.storedVersions afterwards, as Kubernetes' migrator of storage versions does it.
func (*Feature) Migrate(ctx context.Context, m server.Migrator) (err error) {
	resource := wiring.Upgrading().Resources[0]
	handle, err := resource.Open(ctx, m.Config(resource))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	reached, err := typedclient.Reachable([]verb.Handle{handle})
	if err != nil {
		return err
	}
	definitions, err := reach.Of[*definition](reach.With(ctx, reached))
	if err != nil {
		return err
	}
	all, err := definitions.List(ctx, "", nil)
	if err != nil {
		return err
	}
	run := migration{m, definitions, template()}
	for _, crd := range all {
		if !v1.IsTrue(crd, apiextensionsv1.Established) {
			continue // it never had objects
		}
		if err := run.migrate(ctx, crd); err != nil {
			return fmt.Errorf("%s: %w", crd.Name, err)
		}
	}
	return nil
}

// lastTimeout bounds the write that says how a migration ended.
const lastTimeout = 10 * time.Second

type migration struct {
	server.Migrator
	definitions reach.Objects[*definition]
	template    dynamic.Template
}

// migrate migrates the objects of a definition, and says so in its status where they may be in several versions.
func (m *migration) migrate(ctx context.Context, crd *definition) error {
	var convert dynamic.Converter
	if hook := newWebhook(crd, m.Services, slog.Default()); hook != nil {
		convert = hook
	}
	kind, err := dynamic.New(crd, convert, m.template)
	if err != nil {
		return err
	}
	stored := []string{kind.Resource.Info().Storage}
	if m.DryRun || slices.Equal(crd.Status.StoredVersions, stored) {
		_, err := m.Resource(ctx, kind.Resource)
		return err
	}
	err = m.tell(ctx, crd.Name, func(crd *definition) {
		setMigrating(crd, apiextensionsv1.ConditionTrue, "MigrationRunning", "Migration of all resources is running")
	})
	if err != nil {
		return err
	}
	done, err := m.Resource(ctx, kind.Resource)
	complete := err == nil && done.Unreadable == 0
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout) // it may have been interrupted
	defer cancel()
	return errors.Join(err, m.tell(last, crd.Name, func(now *definition) {
		end(now, complete, now.UID == crd.UID, stored)
	}))
}

// end sets the status of a definition after its migration. The versions that are stored are known only where the
// definition is as it was when the migration began.
func end(crd *definition, complete, same bool, stored []string) {
	begun := v1.Condition(crd, apiextensionsv1.StorageMigrating)
	same = same && begun != nil && begun.ObservedGeneration == crd.Generation
	reason, message := "MigrationSucceeded", "The migration has succeeded and the stored versions have been updated"
	switch {
	case !complete:
		reason, message = "MigrationFailed", "The migration has failed"
	case same:
		crd.Status.StoredVersions = stored
	default:
		message = "The migration has succeeded but the stored versions have not been updated due to a generation " +
			"mismatch"
	}
	setMigrating(crd, apiextensionsv1.ConditionFalse, reason, message)
}

func (m *migration) tell(ctx context.Context, name string, change func(crd *definition)) error {
	how := reach.Write{Subresource: "status", Manager: manager}
	_, err := m.definitions.Update(ctx, "", name, how, func(crd *definition) error {
		change(crd)
		return nil
	})
	return err
}

func setMigrating(crd *definition, status apiextensionsv1.ConditionStatus, reason, message string) {
	v1.SetCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.StorageMigrating, Status: status, Reason: reason, Message: message,
	})
	v1.Condition(crd, apiextensionsv1.StorageMigrating).ObservedGeneration = crd.Generation
}
