package scaffold

import (
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"strings"

	"apigen.dev/generator/internal/model"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Options say what to write.
type Options struct {
	// Dir is the project's directory; it is made if it does not exist.
	Dir string
	// Module is the path of a new project's module; of an existing one it is taken from go.mod.
	Module string
	// Group (shop.example.com), Version (v1) and Kind (Widget) name the kind to write.
	Group, Version, Kind string
	ClusterScoped        bool
	// Guest: the server of a new project leaves users and permissions to the cluster behind whose aggregator it runs.
	Guest bool
	// Serve are import paths of packages of other modules. Their kinds are served, and no kind is written.
	Serve []string
	// From is a version of Kind, whose types become those of Version.
	From string
	// Types is Go source of the kind's types, which takes the place of the scaffold's. No logic and no sample is
	// written beside it, and the project writes the CustomResourceDefinitions of its kinds.
	Types []byte
	// ApigenVersion is the version of apigen.dev to require. Replace, where not empty, is the directory of a checkout
	// that stands in for it.
	ApigenVersion, Replace string
	// GoVersion is the go directive of a new go.mod: 1.26.0.
	GoVersion string
}

// named reports whether the options name a kind.
func (o Options) named() bool { return o.Group != "" || o.Version != "" || o.Kind != "" }

func (o Options) checkModule() error {
	if o.Module == "" {
		return errors.New("--module is missing: the path of the new module, example.com/shop")
	}
	if err := module.CheckImportPath(o.Module); err != nil {
		return fmt.Errorf("--module %q: %w", o.Module, err)
	}
	return nil
}

func (o Options) checkVersion() error {
	if !model.IsVersion(o.Version) {
		return fmt.Errorf("--version %q is no API version like v1, v1beta2 or v2alpha1", o.Version)
	}
	return nil
}

func (o Options) check() error {
	errs := []error{o.checkModule()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Group == "" {
		bad("--group is missing: the API group of the kind, shop.example.com")
	} else if messages := validation.IsDNS1123Subdomain(o.Group); len(messages) > 0 {
		bad("--group %q is no API group like shop.example.com: %s", o.Group, strings.Join(messages, "; "))
	} else if dir := groupDir(o.Group); dir == "wiring" {
		bad("--group %q: the directory apis/%s is taken by generated code", o.Group, dir)
	}
	if o.Version == "" {
		bad("--version is missing: v1, v1beta2 or v2alpha1")
	} else {
		errs = append(errs, o.checkVersion())
	}
	if o.Kind == "" {
		bad("--kind is missing: an exported Go name in singular, Widget")
	} else if !kindPattern.MatchString(o.Kind) {
		bad("--kind %q is no kind: an exported Go name in singular, like Widget", o.Kind)
	} else if strings.HasSuffix(o.Kind, "List") || strings.HasSuffix(o.Kind, "Spec") || strings.HasSuffix(o.Kind,
		"Status") {
		bad("--kind %q: names that end in List, Spec or Status are those of a kind's parts", o.Kind)
	} else if messages := validation.IsDNS1035Label(strings.ToLower(o.Kind)); len(messages) > 0 {
		bad("--kind %q: %s", o.Kind, strings.Join(messages, "; "))
	}
	return errors.Join(errs...)
}

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func groupDir(group string) string {
	label, _, _ := strings.Cut(group, ".")
	dir := strings.ReplaceAll(label, "-", "")
	if dir == "" || token.IsKeyword(dir) || dir[0] >= '0' && dir[0] <= '9' {
		dir = "g" + dir
	}
	return dir
}
