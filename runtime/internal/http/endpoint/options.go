package endpoint

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

func (req *resourceRequest) listOptions() (*internalversion.ListOptions, error) {
	var query metav1.ListOptions
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&req.query, &query, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	query.Watch, query.Limit = req.requestInfo.Verb == "watch", max(query.Limit, 0)
	query.ShardSelector = "" // the server has no shards
	options := new(internalversion.ListOptions)
	err := internalversion.Convert_v1_ListOptions_To_internalversion_ListOptions(&query, options, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if options.FieldSelector, err = req.fieldSelector(options.FieldSelector); err != nil {
		return nil, err
	}
	internalversion.SetListOptionsDefaults(options, true)
	if errs := listvalidation.ValidateListOptions(options, true); len(errs) > 0 {
		return nil, invalidOptions("ListOptions", errs)
	}
	if !isVersion(options.ResourceVersion) {
		return nil, store.InvalidVersion(options.ResourceVersion)
	}
	if options.Continue != "" && options.ResourceVersion != "" && options.ResourceVersion != "0" {
		return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	return options, nil
}

// fieldSelector checks a selector over the fields of the resource, and adds the name in the path to it.
func (req *resourceRequest) fieldSelector(selector fields.Selector) (fields.Selector, error) {
	for _, requirement := range selector.Requirements() {
		path := requirement.Field
		if path != "metadata.name" && path != "metadata.namespace" &&
			!slices.Contains(req.version.SelectableFields, path) {
			return nil, apierrors.NewBadRequest(req.unknownField(path))
		}
	}
	if !req.requestInfo.NamesObject() {
		return selector, nil
	}
	byName := fields.OneTermEqualSelector("metadata.name", req.requestInfo.Name)
	if selector.Empty() {
		return byName, nil
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); !ok || name != req.requestInfo.Name {
		return nil, apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return selector, nil
}

// unknownField returns the text of an error. It lists the fields of a resource that has only the fields of all kinds.
func (req *resourceRequest) unknownField(path string) string {
	if len(req.resourceInfo.SelectableFields) == 0 {
		if _, _, err := runtime.DefaultMetaV1FieldSelectorConversion(path, ""); err != nil {
			return err.Error()
		}
	}
	return "field label not supported: " + path
}

// selection leaves out selectors that select everything, so that the store doesn't match each object.
func selection(options *internalversion.ListOptions) api.Selection {
	var s api.Selection
	if !options.LabelSelector.Empty() {
		s.Labels = options.LabelSelector
	}
	if !options.FieldSelector.Empty() {
		s.Fields = options.FieldSelector
	}
	return s
}

func apiListOptions(options *internalversion.ListOptions) verb.ListOptions {
	return verb.ListOptions{
		Selection: selection(options), ResourceVersion: options.ResourceVersion,
		ResourceVersionMatch: options.ResourceVersionMatch, Limit: options.Limit, Continue: options.Continue,
	}
}

// isVersion reports whether a resourceVersion is empty or a number, as the server's are.
func isVersion(version string) bool {
	_, err := strconv.ParseUint(version, 10, 63)
	return err == nil || version == ""
}

func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func (req *resourceRequest) getOptions() (metav1.GetOptions, error) {
	var options metav1.GetOptions
	if err := metav1.Convert_url_Values_To_v1_GetOptions(&req.query, &options, nil); err != nil {
		return options, apierrors.NewBadRequest(err.Error())
	}
	if !isVersion(options.ResourceVersion) {
		return options, invalidOptions("GetOptions", field.ErrorList{store.VersionFault(options.ResourceVersion)})
	}
	if len(req.query["export"]) > 0 && request.BoolOption(req.query["export"]) {
		return options, apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	return options, nil
}

// writeOptions reads the query of a write, whose options have a kind. It also returns the directive for unknown fields.
func (req *resourceRequest) writeOptions(
	kind string, validate func(*metav1.PatchOptions) field.ErrorList,
) (write verb.WriteOptions, validation string, err error) {
	var options metav1.PatchOptions // the options of a creation and of an update are a part of these
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&req.query, &options, nil); err != nil {
		return write, "", apierrors.NewBadRequest(err.Error())
	}
	write.Sent, write.DryRun = &options, len(options.DryRun) > 0
	if write.FieldManager = options.FieldManager; write.FieldManager == "" {
		write.FieldManager = managerOf(req.r)
	}
	write.Force = kind == "PatchOptions" && ptr.Deref(options.Force, false)
	return write, cmp.Or(options.FieldValidation, metav1.FieldValidationWarn), invalidOptions(kind, validate(&options))
}

// managerOf returns the field manager of a client that names none: the program in its User-Agent.
func managerOf(r *http.Request) string {
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	var b strings.Builder
	for _, char := range agent {
		if !unicode.IsPrint(char) {
			continue
		}
		if b.Len()+utf8.RuneLen(char) > metavalidation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(char)
	}
	return b.String()
}
