package scaffold

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestDeploy: what exists is kept, and the image is of the project's Go version and of its server.
func TestDeploy(t *testing.T) {
	for _, c := range []struct{ name, module, main, command, image, object string }{
		{"a project", "module example.com/shop\n\ngo 1.26.0\n", "cmd/shop", "./cmd/shop", "golang:1.26", "shop"},
		{"an adopted one", "module example.com/shop\n\ngo 1.27\n", "cmd/apiserver", "./cmd/apiserver", "golang:1.27",
			"shop"},
		{"no Go version", "module example.com/My.Shop/v2\n", "cmd/My.Shop", "./cmd/My.Shop", "golang:latest",
			"my-shop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"go.mod": c.module, c.main + "/main.go": "package main\n",
				".dockerignore": "mine\n"})
			result, err := Deploy(dir)
			if err != nil || !slices.Equal(result.Kept, []string{".dockerignore"}) ||
				len(result.Created) != len(deployFiles)-1 {
				t.Fatalf("%+v, %v", result, err)
			}
			files := tree(t, dir)
			if files[".dockerignore"] != "mine\n" {
				t.Error(".dockerignore was changed")
			}
			for _, text := range []string{" " + c.image + " ", " " + c.command + "\n"} {
				if !strings.Contains(files["Dockerfile"], text) {
					t.Errorf("no %q in\n%s", text, files["Dockerfile"])
				}
			}
			if text := "name: " + c.object + "\n  namespace: " + c.object + "\n"; !strings.Contains(files[serviceFile],
				text) {
				t.Errorf("no %q in\n%s", text, files[serviceFile])
			}
		})
	}
}

func TestObjectName(t *testing.T) {
	for project, want := range map[string]string{
		"shop": "shop", "Sample_API.server": "sample-api-server", "3d": "api-3d", "-": "api", "x-": "x",
		strings.Repeat("a", 39) + "-b": strings.Repeat("a", 39),
	} {
		if got := objectName(project); got != want {
			t.Errorf("%s: %s, want %s", project, got, want)
		}
	}
}

// TestAPIServices: a cluster's own groups are left out, and a Service must be there.
func TestAPIServices(t *testing.T) {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	shop := schema.GroupVersion{Group: "shop.io", Version: "v1"}
	dir := t.TempDir()
	refused := func(want string, served ...schema.GroupVersion) {
		t.Helper()
		if _, err := APIServices(dir, served); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	refused("apigen init --deploy", shop)
	writeFiles(t, dir, map[string]string{serviceFile: "metadata: {name: shop}\nspec: {ports: [{port: 1}]}\n"})
	refused("is no Service with a name, a namespace and a port", shop)
	writeFiles(t, dir, map[string]string{
		serviceFile: "metadata: {name: shop, namespace: shop}\nspec: {ports: [{port: 1}]}\n"})
	refused("no group that a cluster could send", apps, schema.GroupVersion{Version: "v1"})
	file, err := APIServices(dir, []schema.GroupVersion{apps, shop})
	if err != nil || file.Old != nil || !slices.Equal(file.Hosts, []string{"apps/v1"}) ||
		strings.Contains(string(file.New), "apps") || !strings.Contains(string(file.New), "\n  name: v1.shop.io\n") {
		t.Errorf("%+v, %v\n%s", file, err, file.New)
	}
}

// TestDelegates: the main package has the flags of a guest if it names the feature.
func TestDelegates(t *testing.T) {
	for _, guest := range []bool{false, true} {
		dir := t.TempDir()
		if _, err := Init(in(dir, func(o *Options) { o.Guest = guest })); err != nil {
			t.Fatal(err)
		}
		if got, folder, err := Delegates(dir); got != guest || folder != "cmd/shop" || err != nil {
			t.Errorf("%t, %s, %v", got, folder, err)
		}
		if has, err := HasServer(dir); !has || err != nil {
			t.Errorf("no server: %v", err)
		}
	}
}
