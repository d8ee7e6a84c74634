package definitions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unit is a package of apiextensions-apiserver whose unit tests run against our implementation.
type unit struct {
	pkg string
	// functions are those that testdata/units/<adapter>.go.txt replaces.
	adapter   string
	functions []string
	tests     string
}

var units = []unit{
	{"pkg/apiserver/schema/pruning", "pruning", []string{"PruneWithOptions"}, "TestPrune"},
	{"pkg/apiserver/schema/defaulting", "defaulting", []string{"Default", "PruneNonNullableNullsWithoutDefaults"},
		"TestDefault|TestPruneNonNullableNullsWithoutDefaults"},
	{"pkg/apiserver/schema/objectmeta", "objectmeta", []string{"CoerceWithOptions", "Validate",
		"validateEmbeddedResource"}, "TestCoerce|TestValidate|TestValidateEmbeddedResource"},
	{"pkg/apiserver/schema/listtype", "listtype", []string{"ValidateListSetsAndMaps"}, "TestValidateListSetsAndMaps"},
	{"pkg/apiserver/schema", "schema", []string{"ValidateStructural"},
		"TestValidateStructuralMetadataInvariants|TestValidateStructuralCompleteness"},
	{"pkg/apiserver/schema/cel", "cel", []string{"(s *Validator) Validate"},
		"TestValidationExpressions|TestValidationExpressionsAtSchemaLevels|TestMessageExpression|TestRatcheting|" +
			"TestReasonAndFldPath|TestOptionalOldSelf.*|TestCELMaxRecursionDepth|TestCelCostStability"},
	{"pkg/apiserver/validation", "values", []string{"ValidateCustomResource", "NewSchemaValidator",
		"NewSchemaValidatorForVersion"},
		"TestValidateCustomResource|TestItemsProperty"},
	{"pkg/apis/apiextensions/validation", "validation", []string{"ValidateCustomResourceDefinition",
		"ValidateCustomResourceDefinitionUpdate"},
		"TestValidateCustomResourceDefinition|TestSelectableFields|TestValidateCustomResourceDefinitionUpdate"},
}

// leftOutUnits are the unit tests of units that don't run, and why. All others must pass.
var leftOutUnits = map[string]string{
	"TestPrune/additionalProperties_with_bool": "structural schemas may not have additionalProperties: false",
	"TestPrune/x-kubernetes-embedded-resource": "it wants apiVersion and kind of an object that is no resource " +
		"removed, but not reported; what we prune is a resource",
	"TestValidateCustomResourceDefinition/webhook_conversion_without_preserveUnknownFields=false":        notInV1,
	"TestValidateCustomResourceDefinition/bad_names_01":                                                  notInV1,
	"TestValidateCustomResourceDefinition/per-version_fields_may_not_all_be_set_to_identical_values_.*":  notInV1,
	"TestSelectableFields/selectableFields_with_duplicate_jsonPaths_are_invalid":                         notInV1,
	"TestValidateCustomResourceDefinitionUpdate/top-level_and_per-version_fields_are_mutually_exclusive": notInV1,
	"TestValidateCustomResourceDefinition/x-kubernetes-preserve-unknown-field:_false": "ours also names the type " +
		"that the root lacks",
	"TestValidateCustomResourceDefinition/top-level_metadata_default": "ours also names the unknown field in the " +
		"default that is forbidden",
	"TestValidateCustomResourceDefinition/v1.15_era_tests_for_metadata_defaults": "as above",
	"TestValidateCustomResourceDefinition/embedded_metadata_defaults": "ours reports a wrong default under the path " +
		"of the default, with the path in it as text",
	"TestValidateCustomResourceDefinition/x-kubernetes-validations_should_have_valid_fieldPath_for_array": "ours " +
		"looks at the fieldPath of a rule when the schema has no other fault",
	"TestValidationExpressions/skipped_transition_rule_for_old_with_non-nil_interface_but_nil_value": "decoded JSON " +
		"has no such value",
	"TestValidationExpressionsAtSchemaLevels/.*allOf.*": "a definition may not have rules inside allOf",
	"TestMessageExpression/default_rule_message_used_if_messageExpression_does_not_eval_to_string": "a definition " +
		"may not have such a messageExpression",
	"TestMessageExpression/runtime_cost_preserved_if_messageExpression_fails_during_evaluation.*": readsLog,
	"TestMessageExpression/messageExpression_is_not_allowed_to_generate_.*":                       readsLog,
	"TestMessageExpression/per-call_limit_exceeded_during_messageExpression_execution":            "it sets the limit",
	"TestRatcheting/typemeta_fields_are_not_ratcheted": "it takes a value " +
		"that is no resource for one",
}

const readsLog = "it looks for the reason in the log of klog; we use the message of the rule, and log nothing"

const notInV1 = "it judges what the internal type has and apiextensions.k8s.io/v1 has not"

// TestUnits runs unit tests of apiextensions-apiserver with our functions in place of those that they test.
func TestUnits(t *testing.T) {
	dir := t.TempDir()
	suites := copySuites(t, dir)
	place(t, "ours", filepath.Join(suites, "pkg", "ours"))
	for _, u := range units {
		target := filepath.Join(suites, filepath.FromSlash(u.pkg))
		for _, function := range u.functions {
			rename(t, target, function)
		}
		place(t, u.adapter, target)
	}
	modules := modfile(t, dir, suites)
	for _, u := range units {
		t.Run(u.adapter, func(t *testing.T) { u.run(t, modules) })
	}
}

func (u unit) run(t *testing.T, modules string) {
	var skip []string
	for left := range leftOutUnits {
		skip = append(skip, "^"+strings.ReplaceAll(left, "/", "$/^")+"$")
	}
	slices.Sort(skip)
	args := []string{"test", "-mod=mod", "-modfile=" + modules, "-vet=off", "-v", "-run", "^(" + u.tests + ")$"}
	if len(skip) > 0 {
		args = append(args, "-skip", strings.Join(skip, "|"))
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "k8s.io/apiextensions-apiserver/"+u.pkg)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, faults(out))
	}
	passed := strings.Count(string(out), "--- PASS: ")
	if t.Logf("%d tests passed", passed); passed == 0 {
		t.Errorf("nothing ran: %.2000s", out)
	}
}

// place adds an adapter to a package.
func place(t *testing.T, adapter, target string) {
	if err := os.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(target, "ours.go"), read(t, filepath.Join("testdata", "units", adapter+".go.txt")))
}

// rename renames the function of a package that an adapter replaces.
func rename(t *testing.T, target, function string) {
	files, err := filepath.Glob(filepath.Join(target, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	declaration, renamed := "\nfunc "+function+"(", 0
	name := strings.LastIndex(function, " ") + 1 // behind the receiver of a method
	for _, file := range files {
		text := string(read(t, file))
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(text, declaration) {
			renamed++
			write(t, file,
				[]byte(strings.Replace(text, declaration, "\nfunc "+function[:name]+"theirs"+function[name:]+"(", 1)))
		}
	}
	if renamed != 1 {
		t.Fatalf("%d functions %s in %s", renamed, function, target)
	}
}

// modfile returns a go.mod like this module's, with the copy in place of the module.
func modfile(t *testing.T, dir, suites string) string {
	path := filepath.Join(dir, "units.mod")
	replace := fmt.Sprintf("\nreplace k8s.io/apiextensions-apiserver => %s\n", suites)
	write(t, path, append(read(t, "../go.mod"), replace...))
	write(t, filepath.Join(dir, "units.sum"), read(t, "../go.sum"))
	return path
}

func read(t *testing.T, path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// write writes a file, over one that is read-only as those of the module cache are.
func write(t *testing.T, path string, text []byte) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
