// Package manifest reads policies and webhook configurations from files, so that they hold before the server answers
// its first request, and nobody changes them by a request: staticManifestsDir in the configuration of an admission
// plug-in (KEP-5793). Files, names and what objects may not have are as in kube-apiserver 1.37.
//
// It may know package reload.
package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/reload"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// suffix ends the names of objects from files.
const suffix = ".static.k8s.io"

// Plugin is the part of an admission plug-in's configuration that names a directory.
type Plugin struct {
	metav1.TypeMeta `json:",inline"`
	// StaticManifestsDir is an absolute path; "" is none.
	StaticManifestsDir string `json:"staticManifestsDir"`
}

// Decode reads a plug-in's configuration, which has no unknown fields.
func Decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Check refuses a directory that isn't there, in kube-apiserver's words.
func (p *Plugin) Check() error {
	path, dir := field.NewPath("staticManifestsDir"), p.StaticManifestsDir
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		return field.Invalid(path, dir, "must be an absolute file path")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return field.Invalid(path, dir, fmt.Sprintf("unable to read: %v", err))
	}
	if !info.IsDir() {
		return field.Invalid(path, dir, "must be a directory")
	}
	return nil
}

// Objects takes the objects of one kind from files.
type Objects[T metav1.Object] struct {
	kind     string
	defaults func(T)
	validate func(T) error
	found    map[string]T
	paths    map[string]string
}

// NewObjects returns the Objects of a kind. defaults and validate are those of its API, and what files may not have.
func NewObjects[T metav1.Object](kind string, defaults func(T), validate func(T) error) *Objects[T] {
	return &Objects[T]{kind, defaults, validate, map[string]T{}, map[string]string{}}
}

// Sorted returns the objects in the order of their names.
func (o *Objects[T]) Sorted() []T {
	all := make([]T, 0, len(o.found))
	for _, name := range slices.Sorted(maps.Keys(o.found)) {
		all = append(all, o.found[name])
	}
	return all
}

// Names returns the names of the objects.
func (o *Objects[T]) Names() map[string]bool {
	names := make(map[string]bool, len(o.found))
	for name := range o.found {
		names[name] = true
	}
	return names
}

func (o *Objects[T]) takes(kind string) bool { return kind == o.kind || kind == o.kind+"List" }

func (o *Objects[T]) take(kind, path string, document []byte) error {
	if kind == o.kind {
		return o.takeObject(path, document)
	}
	var list struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata"`
		Items           []rawItem `json:"items"`
	}
	if err := yaml.UnmarshalStrict(document, &list); err != nil {
		return err
	}
	for _, item := range list.Items {
		if string(item) == "null" { // it would be decoded into no object
			item = rawItem("{}")
		}
		if err := o.takeObject(path, item); err != nil {
			return err
		}
	}
	return nil
}

func (o *Objects[T]) takeObject(path string, document []byte) error {
	var obj T
	if err := yaml.UnmarshalStrict(document, &obj); err != nil {
		return err
	}
	return o.add(obj, path)
}

func (o *Objects[T]) add(obj T, path string) error {
	name := obj.GetName()
	switch first, again := o.paths[name]; {
	case name == "":
		return fmt.Errorf("resource in file %q must have a name", path)
	case !strings.HasSuffix(name, suffix):
		return fmt.Errorf("%q in file %q must have a name ending with %q", name, path, suffix)
	case again:
		return fmt.Errorf("duplicate name %q found in file %q (previously seen in %q)", name, path, first)
	}
	o.defaults(obj)
	obj.SetResourceVersion("")
	if err := o.validate(obj); err != nil {
		return fmt.Errorf("%s %q: %w", o.kind, name, err)
	}
	o.found[name], o.paths[name] = obj, path
	return nil
}

// Kind is an Objects of some type.
type Kind interface {
	takes(kind string) bool
	take(kind, path string, document []byte) error
}

// Open reads a directory, and again when Follow is called on what it returns. read gives each file's objects to the
// kinds that it has made, by Read, and makes a value of them.
func Open[V any](dir string, read func(files []reload.File) (V, error)) (*reload.Files[V], error) {
	files, err := reload.NewDirectory(read, dir, ".yaml", ".yml", ".json")
	if err != nil {
		return nil, fmt.Errorf("static manifests in %s: %w", dir, err)
	}
	return files, nil
}

// Read gives the objects in files to those of kinds that take them. A file has documents in YAML or JSON, each of which
// is an object, a list of a kind, or a List.
func Read(files []reload.File, kinds ...Kind) error {
	for _, file := range files {
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.Content)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && len(bytes.TrimSpace(document)) > 0 {
				err = one(document, file.Path, kinds)
			}
			if err != nil {
				return fmt.Errorf("error loading %s: %w", file.Path, err)
			}
		}
	}
	return nil
}

// one takes one document.
func one(document []byte, path string, kinds []Kind) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []rawItem `json:"items"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	if head.APIVersion == "v1" && head.Kind == "List" {
		for _, item := range head.Items {
			if err := one(item, path, kinds); err != nil {
				return err
			}
		}
		return nil
	}
	if head.APIVersion == registration.SchemeGroupVersion.String() {
		for _, kind := range kinds {
			if kind.takes(head.Kind) {
				return kind.take(head.Kind, path, document)
			}
		}
	}
	return fmt.Errorf("unsupported resource type %s", cmp.Or(head.GroupVersionKind().String(), "without a kind"))
}

// rawItem is JSON.
type rawItem []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawItem) UnmarshalJSON(data []byte) error {
	*r = bytes.Clone(data)
	return nil
}
