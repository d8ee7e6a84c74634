package flowcontrol

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	v1 "apigen.dev/runtime/builtin/flowcontrol/v1"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// follow puts the objects in force with which the server begins, and returns what follows their changes: those of the
// file, or those that the server serves.
func (f *Feature) follow(follower *follower, config *server.Config) (func(context.Context) error, error) {
	if f.file == "" {
		return follower.run, follower.use(suggested())
	}
	served, err := serves(config)
	if err != nil {
		return nil, err
	}
	if served {
		return nil, f.refuseFile("is for a server that doesn't serve the group; add --runtime-config=" +
			flowcontrolv1.SchemeGroupVersion.String() + "=false")
	}
	files, err := reload.New(func(contents [][]byte) (objects, error) { return readObjects(contents[0]) }, f.file)
	if err != nil {
		return nil, fmt.Errorf("--flow-control-config-file %s: %w", f.file, err)
	}
	log := config.Log
	if log == nil {
		log = slog.Default()
	}
	return func(ctx context.Context) error {
		ticker := time.NewTicker(reload.Every)
		defer ticker.Stop()
		followFile(ctx, ticker.C, log, files, follower)
		return nil
	}, follower.use(files.Value())
}

// refuseFile returns an error if there is a file.
func (f *Feature) refuseFile(why string) error {
	if f.file == "" {
		return nil
	}
	return errors.New("--flow-control-config-file " + why)
}

// serves reports whether a server serves objects of the group.
func serves(config *server.Config) (bool, error) {
	switches, err := apigroups.NewSwitches(config.RuntimeConfig, config.Groups)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(config.Groups, func(group registry.Group) bool {
		return group.Name == flowcontrolv1.GroupName && slices.ContainsFunc(group.Resources,
			func(r registry.Resource) bool {
				return switches.Serves(r.Info(), flowcontrolv1.SchemeGroupVersion.Version)
			})
	}), nil
}

// followFile puts what is in the file in force after each change, until ctx ends.
func followFile(
	ctx context.Context, ticks <-chan time.Time, log *slog.Logger, files *reload.Files[objects], follower *follower,
) {
	files.Follow(ctx, ticks, log, "levels and schemas of priority and fairness", func(all objects) {
		if err := follower.use(all); err != nil {
			log.Error("levels and schemas could not be put in force", "error", err)
		}
	})
}

// readObjects reads the documents of a file, which must be valid, and refer to nothing that isn't there.
func readObjects(content []byte) (all objects, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, all.check()
		}
		if err == nil && len(bytes.TrimSpace(document)) > 0 {
			err = all.add(document)
		}
		if err != nil {
			return objects{}, err
		}
	}
}

// add adds the objects of a document: one, or those of a List.
func (o *objects) add(document []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	switch head.GroupVersionKind() {
	case flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"):
		return addTo(&o.schemas, document, v1.SetObjectDefaults_FlowSchema, validSchema)
	case flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"):
		return addTo(&o.levels, document, v1.SetObjectDefaults_PriorityLevelConfiguration, validLevel)
	case schema.GroupVersionKind{Version: "v1", Kind: "List"}:
		for _, item := range head.Items {
			if err := o.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q of %q is neither a FlowSchema nor a PriorityLevelConfiguration of %s", head.Kind,
		head.APIVersion, flowcontrolv1.SchemeGroupVersion)
}

// creation is the operation by which the declared rules of a kind see an object of a file.
var creation = operation.Operation{Type: operation.Create}

func validSchema(of *flowcontrolv1.FlowSchema) field.ErrorList {
	ctx := context.Background()
	return append(v1.Validate_FlowSchema(ctx, creation, nil, of, nil), v1.ValidateObject_FlowSchema(ctx, of)...)
}

func validLevel(level *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	ctx := context.Background()
	return append(v1.Validate_PriorityLevelConfiguration(ctx, creation, nil, level, nil),
		v1.ValidateObject_PriorityLevelConfiguration(ctx, level)...)
}

// addTo decodes an object, sets its defaults, validates it and appends it.
func addTo[T any, P interface {
	*T
	metav1.Object
}](to *[]P, document []byte, defaults func(P), validate func(P) field.ErrorList) error {
	object := P(new(T))
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return err
	}
	name := object.GetName()
	switch {
	case name == "":
		return errors.New("an object has no metadata.name")
	case slices.ContainsFunc(*to, func(other P) bool { return other.GetName() == name }):
		return fmt.Errorf("two objects of one kind have the name %q", name)
	}
	defaults(object)
	if err := validate(object).ToAggregate(); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	*to = append(*to, object)
	return nil
}

// check refuses schemas whose level doesn't exist.
func (o *objects) check() error {
	levels := byName(append(preset.MandatoryLevels(), o.levels...))
	for _, s := range o.schemas {
		if of := s.Spec.PriorityLevelConfiguration.Name; levels[of] == nil {
			return fmt.Errorf("the FlowSchema %q names the level %q, which doesn't exist", s.Name, of)
		}
	}
	return nil
}
