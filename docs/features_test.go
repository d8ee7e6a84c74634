package docs

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/docs/internal/snippets"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// TestFeatures: the page has a row for each feature that there is, says which of them stand in builtin.Standalone, and
// names values that compile: those of the snippet.
func TestFeatures(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	values := regexp.MustCompile(`(?m)^\t\t(&(?:[a-z]+\.Feature|webhookauth\.[A-Z][a-z]+)\{\}),`)
	listed := func(path string) (all []string) {
		for _, match := range values.FindAllStringSubmatch(read(path), -1) {
			all = append(all, match[1])
		}
		return all
	}
	compiled, standalone := listed("internal/snippets/everyfeature.go"), listed("../runtime/builtin/builtin.go")
	var rows, packages []string
	for _, row := range featureRows(t) {
		rows, packages = append(rows, row.value), append(packages, row.pkg)
		if got, want := row.standalone == "yes", slices.Contains(standalone, row.value); got != want {
			t.Errorf("%s stands in builtin.Standalone: %v", row.value, want)
		}
	}
	if !slices.Equal(rows, compiled) || len(standalone) < 15 {
		t.Errorf("the page has\n%q\nthe snippet\n%q\nand builtin.Standalone\n%q", rows, compiled, standalone)
	}
	files, err := filepath.Glob("../runtime/builtin/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, name := read(file), filepath.Base(filepath.Dir(file))
		made := strings.Contains(source, "\ntype Feature struct")
		if (made || strings.Contains(source, ") AddFlags(")) && !slices.Contains(packages, name) {
			t.Errorf("%s has a feature, and the page has none of package %s", file, name)
		}
	}
}

// featureRow is a row of the page's table.
type featureRow struct{ value, pkg, standalone, needs, flags, size string }

// featureRows reads the table of the page.
func featureRows(t *testing.T) (rows []featureRow) {
	t.Helper()
	page, err := os.ReadFile("features.md")
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile("^`(&?([a-z]+)\\.[^`]+)`$")
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 9 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if match := value.FindStringSubmatch(cells[1]); match != nil {
			rows = append(rows, featureRow{match[1], match[2], cells[3], cells[4], cells[5], cells[6]})
		}
	}
	return rows
}

// codeIn finds the texts of a cell in backquotes.
var codeIn = regexp.MustCompile("`([^`]+)`")

// TestFeatureFlags: the column of flags has exactly the flags that a feature adds. A star stands for any end, and "and
// more" for the rest. The sizes are in MB.
func TestFeatureFlags(t *testing.T) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	server.Command(snippets.Everything).Flags().VisitAll(all.AddFlag)
	size := regexp.MustCompile(`^(less than 0\.1|\d\.\d) MB$`)
	for i, row := range featureRows(t) {
		if !size.MatchString(row.size) {
			t.Errorf("%s adds %q", row.value, row.size)
		}
		own := pflag.NewFlagSet("", pflag.ContinueOnError)
		snippets.Everything.Features[i].AddFlags(own)
		named := map[string]bool{}
		for _, cell := range codeIn.FindAllStringSubmatch(row.flags, -1) {
			found := false
			own.VisitAll(func(flag *pflag.Flag) {
				if is, err := path.Match(cell[1], "--"+flag.Name); err == nil && is {
					found, named[flag.Name] = true, true
				}
			})
			if !found {
				t.Errorf("%s has no flag %s", row.value, cell[1])
			}
		}
		own.VisitAll(func(flag *pflag.Flag) {
			if !named[flag.Name] && !strings.HasSuffix(row.flags, "and more") {
				t.Errorf("%s also has the flag --%s", row.value, flag.Name)
			}
		})
		for _, cell := range codeIn.FindAllStringSubmatch(row.needs, -1) {
			if name, is := strings.CutPrefix(cell[1], "--"); is && all.Lookup(name) == nil {
				t.Errorf("%s needs %s, which no server has", row.value, cell[1])
			}
		}
	}
}

// TestFeatureNeeds: a feature needs storage if its kinds are stored, and a server is ready that has the feature and the
// features that it needs, and theirs.
func TestFeatureNeeds(t *testing.T) {
	rows := featureRows(t)
	var with func(i int, seen map[int]bool)
	with = func(i int, seen map[int]bool) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, cell := range codeIn.FindAllStringSubmatch(rows[i].needs, -1) {
			if strings.HasPrefix(cell[1], "--") {
				continue
			}
			needed := slices.IndexFunc(rows, func(row featureRow) bool { return row.pkg == cell[1] })
			if needed < 0 {
				t.Fatalf("%s needs %s, which is no feature", rows[i].value, cell[1])
			}
			with(needed, seen)
		}
	}
	for i, row := range rows {
		if got, want := strings.HasPrefix(row.needs, "storage"), stores(snippets.Everything.Features[i]); got != want {
			t.Errorf("%s needs storage: %v, want %v", row.value, got, want)
		}
		seen := map[int]bool{}
		with(i, seen)
		t.Run(row.value, func(t *testing.T) { startReady(t, slices.Sorted(maps.Keys(seen))) })
	}
}

// stores reports whether objects of a feature's kinds are stored.
func stores(feature server.Feature) bool {
	for _, group := range feature.Groups() {
		for _, resource := range group.Resources {
			if resource.Info().Stored().Storage != "" {
				return true
			}
		}
	}
	return false
}

// startReady starts a server with the features of a few rows, and wants it to become ready.
func startReady(t *testing.T, rows []int) {
	t.Helper()
	var groups []registry.Group
	var features []server.Feature
	for _, i := range rows {
		kind := reflect.TypeOf(snippets.Everything.Features[i])
		feature := snippets.Everything.Features[i]
		if kind.Kind() == reflect.Pointer {
			feature = reflect.New(kind.Elem()).Interface().(server.Feature) // a feature belongs to one server
		}
		features, groups = append(features, feature), append(groups, feature.Groups()...)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSlice("authorization-mode", nil, "")
	s := apitest.StartWith(t, func(config *server.Config) {
		config.DataDir = t.TempDir()
		for _, feature := range features {
			feature.AddFlags(flags)
		}
		for _, feature := range features {
			if err := config.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := s.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server isn't ready")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
