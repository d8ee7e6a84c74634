package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"apigen.dev/generator/internal/scaffold"
	"apigen.dev/generator/internal/served"
	"apigen.dev/generator/internal/staging"
	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// goVersion is the go directive of new projects: that of the runtime that they link against.
const goVersion = "1.26.0"

func newInit() *cobra.Command {
	options := scaffold.Options{GoVersion: goVersion}
	var replace, crd string
	var serve []string
	command := &cobra.Command{
		Use:   "init [DIR] --module M --group G --version V --kind K",
		Short: "Write a new project, or add a kind, a version or a group",
		Long: `Init writes a project that serves one kind: its types with markers, its logic, a main package, a sample,
a Makefile, a README and a CI workflow. In an existing project it adds a kind, a version or a group. It never
overwrites a file. A kind without --group or --version is added to that of the project, if it has exactly one. If init
fails, it removes again what it created.

In a project that has API packages already (of kubebuilder, or of a server built on k8s.io/apiserver), run it without
--group, --version and --kind. It then writes a package that collects the API packages and a main package that serves
them, and changes nothing else.

With --serve it writes a package that serves the kinds of another module, and what a project needs around it. The
module is required in the version behind the package's @, or else in that which go.mod names, or else in one that fits
apigen's own requirements.

With --from-crd it writes the types of all kinds and versions in a file of CustomResourceDefinitions, and compares the
definitions that apigen makes of the types with those in the file. What Go types can't say is an error that names it.

With --deploy it also writes what runs the server behind a cluster: a Dockerfile, and kustomize bases and components
below deploy/. The main package of a new project then leaves users and permissions to the cluster. In a project that
has a server, --deploy alone writes these files, and nothing else.`,
		Example: `  apigen init shop --module example.com/shop --group shop.example.com --version v1 --kind Widget
  apigen init . --kind Gadget
  apigen init . --group shop.example.com --version v1 --kind Gadget --cluster-scoped
  apigen init . --version v2 --kind Widget --from v1
  apigen init deploy --module example.com/deploy --serve k8s.io/api/apps/v1,k8s.io/api/batch/v1@v0.37.2
  apigen init shop --module example.com/shop --from-crd widgets.yaml
  apigen init . --deploy
  apigen init`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Dir = "."
			if len(args) == 1 {
				options.Dir = args[0]
			}
			origin, err := findOrigin(replace)
			if err != nil {
				return err
			}
			options.ApigenVersion, options.Replace = origin.version, origin.checkout
			if options.Guest && crd == "" && len(serve) == 0 && !named(options) {
				if has, err := scaffold.HasServer(options.Dir); has || err != nil {
					return deployAfter(cmd.Context(), cmd.ErrOrStderr(), options, err)
				}
			}
			if crd != "" {
				if named(options) || len(serve) > 0 {
					return errors.New("--from-crd names the kinds: leave out --group, --version, --kind, --from " +
						"and --serve")
				}
				err = initFromCRD(cmd.Context(), cmd.ErrOrStderr(), options, crd, origin)
				return deployAfter(cmd.Context(), cmd.ErrOrStderr(), options, err)
			}
			asked := map[string]string{}
			for _, importPath := range serve {
				importPath, version, _ := strings.Cut(importPath, "@")
				options.Serve, asked[importPath] = append(options.Serve, importPath), version
			}
			a, err := begin(cmd.ErrOrStderr(), options.Dir)
			if err != nil {
				return err
			}
			err = a.end(initialize(cmd.Context(), a, options, asked, origin))
			return deployAfter(cmd.Context(), cmd.ErrOrStderr(), options, err)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Module, "module", "",
		"path of the new module, such as example.com/shop (an existing project has it in go.mod)")
	flags.StringVar(&options.Group, "group", "", "API group, such as shop.example.com")
	flags.StringVar(&options.Version, "version", "", "API version, such as v1, v1beta1 or v2alpha1")
	flags.StringVar(&options.Kind, "kind", "", "kind, in singular, such as Widget")
	flags.StringVar(&options.From, "from", "",
		"copy the kind's types from this version, with comments and markers, and write conversion functions")
	flags.StringSliceVar(&serve, "serve", nil, "serve the kinds of these packages of other modules, such as "+
		"k8s.io/api/apps/v1 or k8s.io/api/apps/v1@v0.37.2, in place of a kind of yours")
	flags.StringVar(&crd, "from-crd", "", "write the types of the CustomResourceDefinitions in this file (YAML)")
	flags.BoolVar(&options.Guest, "deploy", false,
		"also write a Dockerfile, and kustomize bases that run the server behind a cluster")
	flags.BoolVar(&options.ClusterScoped, "cluster-scoped", false, "make the kind cluster-scoped")
	flags.StringVar(&replace, "replace", "", "use this checkout of apigen.dev in the new go.mod, in place of a release")
	return command
}

func named(o scaffold.Options) bool { return o.Group+o.Version+o.Kind+o.From != "" }

// deployAfter writes the deployment, if the options ask for it and everything before succeeded.
func deployAfter(ctx context.Context, w io.Writer, options scaffold.Options, err error) error {
	if err != nil || !options.Guest {
		return err
	}
	return initDeployment(ctx, w, options.Dir)
}

// initialize writes files, resolves what they require, and says what is left to do. Versions are asked for by the
// import paths of served packages.
func initialize(ctx context.Context, w *attempt, options scaffold.Options, versions map[string]string,
	from origin) error {
	result, err := scaffold.Init(options)
	w.note(result)
	if err != nil {
		return err
	}
	var queries []string
	if len(result.Serving) > 0 {
		// Before the module is tidied, which drops what no Go file imports yet.
		if queries, err = scaffold.Queries(options.Dir, apimachinery(), result.Serving, versions); err != nil {
			return err
		}
	}
	if result.NewProject {
		if err := resolve(ctx, options.Dir, from, w); err != nil {
			return err
		}
	}
	if len(result.Serving) > 0 {
		if err := serve(ctx, w, options, queries); err != nil {
			return err
		}
	}
	skew, err := scaffold.Skew(options.Dir, apimachinery())
	switch {
	case err != nil:
		return err
	case len(result.Adopted) > 0:
		adopted(w, result, from, skew.Command())
	case len(result.Serving) > 0:
		nextSteps(w, options.Dir, skew)
	case skew.Skewed():
		fmt.Fprintf(w, "modules of Kubernetes are of different releases, %s; to align them, run\n  %s\n", skew,
			skew.Command())
	}
	return nil
}

// serve requires the modules of served packages, and writes the packages that serve them.
func serve(ctx context.Context, w *attempt, options scaffold.Options, queries []string) error {
	fmt.Fprintln(w, "resolving dependencies (go get "+strings.Join(queries, " ")+")")
	if err := scaffold.Get(ctx, options.Dir, queries...); err != nil {
		return err
	}
	for _, importPath := range options.Serve {
		existing, err := scaffold.Serves(options.Dir, importPath)
		if err != nil {
			return err
		}
		if existing != "" {
			w.note(&scaffold.Result{Kept: []string{existing + "/doc.go"}})
			continue
		}
		found, err := served.Package(ctx, options.Dir, importPath)
		if err != nil {
			return err
		}
		result, err := scaffold.Serve(options.Dir, found)
		w.note(result)
		if err != nil {
			return err
		}
	}
	return nil
}

// nextSteps says what is left to do in a project of served packages. Modules of Kubernetes that may not compile beside
// one another are aligned before anything is built.
func nextSteps(w io.Writer, dir string, skew staging.Skew) {
	fmt.Fprintf(w, "next, in %s:\n", dir)
	if skew.Skewed() {
		fmt.Fprintf(w, "  %s\n", skew.Command())
	}
	fmt.Fprintf(w, "  go generate ./...\n  go run ./cmd/%s\n", scaffold.ProjectName(dir))
}

// apimachinery returns the version that this apigen was built with: the runtime of the same version requires it.
func apimachinery() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/apimachinery" {
				return module.Version
			}
		}
	}
	return "latest"
}

// origin is where the running apigen comes from, and so which apigen.dev a project that it makes is to require.
type origin struct {
	version string
	// checkout is the directory of the source, where apigen was not built from a release.
	checkout string
}

// findOrigin asks the binary. A release knows its version; anything else was built from a checkout, whose directory the
// compiler noted in the binary.
func findOrigin(replace string) (origin, error) {
	if replace != "" {
		dir, err := filepath.Abs(replace)
		if err != nil {
			return origin{}, err
		}
		if !isCheckout(dir) {
			return origin{}, fmt.Errorf("--replace %s: this is no checkout of apigen.dev", replace)
		}
		return origin{"v0.0.0", dir}, nil
	}
	if version := releaseVersion(); version != "" {
		return origin{version: version}, nil
	}
	_, file, _, ok := runtime.Caller(0)
	if dir := filepath.Dir(filepath.Dir(filepath.Dir(file))); ok && filepath.IsAbs(file) && isCheckout(dir) {
		return origin{"v0.0.0", dir}, nil
	}
	return origin{}, errors.New("this apigen is no release, and the checkout that it was built from is gone: " +
		"name one with --replace DIR")
}

func releaseVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if module.Path != "apigen.dev" {
			continue
		}
		// What the go command makes up for a build from a repository has build metadata, or a time and a hash.
		if module.Replace != nil || !semver.IsValid(module.Version) || semver.Build(module.Version) != "" ||
			strings.HasPrefix(module.Version, "v0.0.0-") {
			return ""
		}
		return module.Version
	}
	return ""
}

func isCheckout(dir string) bool {
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(content) == "apigen.dev"
}

func listFiles(w io.Writer, dir string, result *scaffold.Result) {
	for _, path := range result.Created {
		fmt.Fprintln(w, "created", filepath.Join(dir, filepath.FromSlash(path)))
	}
	for _, path := range result.Kept {
		fmt.Fprintln(w, "kept   ", filepath.Join(dir, filepath.FromSlash(path)))
	}
}

func adopted(w io.Writer, result *scaffold.Result, from origin, align string) {
	get := "go get -tool apigen.dev/cmd/apigen@" + from.version
	if from.checkout != "" {
		get = "go mod edit -tool apigen.dev/cmd/apigen -require apigen.dev@" + from.version +
			" -replace apigen.dev=" + from.checkout
	}
	if align != "" {
		get += "\n  " + align
	}
	fmt.Fprintf(w, `
serves %s, from where they are. What is left to do:
  %s
  go mod tidy && go tool apigen build --lenient ./... && go mod tidy
  go run ./cmd/apiserver
Move the logic of webhooks into methods of the types: Default into SetDefaults_X, ValidateCreate into Validate. The
server calls Hub, ConvertTo and ConvertFrom as they are.
`, strings.Join(result.Adopted, ", "), get)
}

// resolve adds the requirements of a project to its go.mod, apigen.dev first. It copies versions and checksums from a
// checkout, so that the go command fetches little, and on most machines nothing.
func resolve(ctx context.Context, dir string, from origin, progress io.Writer) error {
	if err := require(dir, from); err != nil {
		return err
	}
	fmt.Fprintln(progress, "resolving dependencies (go mod tidy)")
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir = dir
	tidy.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := tidy.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the dependencies of the project could not be resolved: %w\n%s", err, out)
	}
	return nil
}

// require adds to go.mod what a new one has from its template, and the versions that the checkout uses.
func require(dir string, from origin) error {
	name := filepath.Join(dir, "go.mod")
	target, err := readMod(name)
	if err != nil {
		return err
	}
	err = errors.Join(target.AddRequire("apigen.dev", from.version), target.AddTool("apigen.dev/cmd/apigen"))
	if from.checkout != "" {
		err = errors.Join(err, target.AddReplace("apigen.dev", "", from.checkout, ""),
			takeRequirements(target, dir, from.checkout))
	}
	if err != nil {
		return err
	}
	target.Cleanup()
	content, err := target.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644)
}

func takeRequirements(target *modfile.File, dir, checkout string) error {
	source, err := readMod(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, r := range target.Require {
		has[r.Mod.Path] = true
	}
	for _, r := range source.Require {
		if !has[r.Mod.Path] {
			target.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
		}
	}
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	own, err := os.OpenFile(filepath.Join(dir, "go.sum"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = own.Write(sums)
	return errors.Join(err, own.Close())
}

func readMod(name string) (*modfile.File, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, content, nil)
}
