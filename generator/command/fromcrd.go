package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/fromcrd"
	"apigen.dev/generator/internal/report"
	"apigen.dev/generator/internal/scaffold"
)

// crdEmitter is the name of the emitter that writes CustomResourceDefinitions.
const crdEmitter = "crd"

// initFromCRD writes the types of the definitions in a file, and then compares the definitions that apigen makes of the
// types with those in the file.
func initFromCRD(ctx context.Context, w io.Writer, options scaffold.Options, name string, from origin) error {
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	definitions, err := fromcrd.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	kinds, err := typesOf(options, definitions)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	a, err := begin(w, options.Dir)
	if err != nil {
		return err
	}
	if err := a.end(writeTypes(ctx, a, kinds, from)); err != nil {
		return err
	}
	if err := compare(ctx, w, options.Dir, definitions); err != nil {
		return err
	}
	fmt.Fprintf(w, "next, in %s:\n  go generate ./...\n  go run ./cmd/%s\n", options.Dir,
		scaffold.ProjectName(options.Dir))
	return nil
}

// writeTypes writes the types of all kinds, and what a new project needs around them.
func writeTypes(ctx context.Context, a *attempt, kinds []scaffold.Options, from origin) error {
	isNew := false
	for _, kind := range kinds {
		result, err := scaffold.Init(kind)
		a.note(result)
		if err != nil {
			return err
		}
		isNew = isNew || result.NewProject
	}
	if !isNew {
		return nil
	}
	return resolve(ctx, a.dir, from, a)
}

// typesOf returns the options of each kind and version. It refuses all of them where a part of one can't be written.
func typesOf(options scaffold.Options, definitions []*fromcrd.Definition) (kinds []scaffold.Options, err error) {
	var errs []error
	for _, d := range definitions {
		for _, v := range d.Spec.Versions {
			kind := options
			kind.Group, kind.Version, kind.Kind = d.Spec.Group, v.Name, d.Spec.Names.Kind
			kind.ClusterScoped = d.Spec.Scope == "Cluster"
			kind.Types, err = d.Types(v)
			kinds, errs = append(kinds, kind), append(errs, err)
		}
	}
	return kinds, errors.Join(errs...)
}

// compare tells how the definitions that are made of the types differ from the given ones. It is an error where they
// accept other objects.
func compare(ctx context.Context, w io.Writer, dir string, definitions []*fromcrd.Definition) error {
	built, err := generator.Build(ctx, generator.Options{Dir: dir, Only: []string{crdEmitter}, Check: true})
	if err != nil {
		return fmt.Errorf("the types were written, and don't build:\n%s", report.Describe(err, dir))
	}
	var errs []error
	for _, d := range definitions {
		document := d.Spec.Group + "_" + d.Spec.Names.Plural + ".yaml"
		var made []byte
		for _, change := range built.Changes {
			if filepath.Base(change.Path) == document {
				made = change.New
			}
		}
		if made == nil {
			fmt.Fprintf(w, "%s: not compared, since the project writes no CustomResourceDefinitions: mark the package "+
				"that collects its groups +apigen:crds=../config/crd\n", d.Metadata.Name)
			continue
		}
		match, paths, err := d.Compare(made)
		switch {
		case err != nil:
			errs = append(errs, err)
		case match == fromcrd.Same:
			fmt.Fprintf(w, "%s: the definition of the types is the same, byte by byte\n", d.Metadata.Name)
		case match == fromcrd.Described:
			fmt.Fprintf(w, "%s: the definition of the types says the same, in other words or another form\n",
				d.Metadata.Name)
		default:
			errs = append(errs, fmt.Errorf("%s: the types were written, and their definition says something "+
				"else:\n  %s", d.Metadata.Name, strings.Join(paths, "\n  ")))
		}
	}
	return errors.Join(errs...)
}
