package endpoint

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalidOptions is the 422 for options of a kind.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// listOptions reads the query of a list, a watch or a deletion of a collection.
func (c *call) listOptions() (*internalversion.ListOptions, error) {
	var query metav1.ListOptions
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&c.query, &query, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	options := &internalversion.ListOptions{
		Watch:                c.info.Verb == "watch",
		AllowWatchBookmarks:  query.AllowWatchBookmarks,
		ResourceVersion:      query.ResourceVersion,
		ResourceVersionMatch: query.ResourceVersionMatch,
		TimeoutSeconds:       query.TimeoutSeconds,
		Limit:                max(query.Limit, 0),
		Continue:             query.Continue,
		SendInitialEvents:    query.SendInitialEvents,
	}
	var err error
	if options.LabelSelector, err = labels.Parse(query.LabelSelector); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if options.FieldSelector, err = c.fieldSelector(query.FieldSelector); err != nil {
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

// fieldSelector parses a selector over the fields that the resource has, and joins a name that stands in the path.
func (c *call) fieldSelector(text string) (fields.Selector, error) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	for _, requirement := range selector.Requirements() {
		path := requirement.Field
		if path != "metadata.name" && path != "metadata.namespace" && !slices.Contains(c.resource.info.SelectableFields, path) {
			return nil, apierrors.NewBadRequest(c.unknownField(path))
		}
	}
	if !c.info.named() {
		return selector, nil
	}
	byName := fields.OneTermEqualSelector("metadata.name", c.info.Name)
	if selector.Empty() {
		return byName, nil
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); !ok || name != c.info.Name {
		return nil, apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return selector, nil
}

// unknownField says which fields there are, where only those are that every kind has.
func (c *call) unknownField(path string) string {
	if len(c.resource.info.SelectableFields) == 0 {
		if _, _, err := runtime.DefaultMetaV1FieldSelectorConversion(path, ""); err != nil {
			return err.Error()
		}
	}
	return "field label not supported: " + path
}

// selection is nil where everything is selected, so that nothing needs to be asked of each object.
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

func asRegistryList(options *internalversion.ListOptions) api.ListOptions {
	return api.ListOptions{
		Selection:            selection(options),
		ResourceVersion:      options.ResourceVersion,
		ResourceVersionMatch: options.ResourceVersionMatch,
		Limit:                options.Limit,
		Continue:             options.Continue,
	}
}

// isVersion tells whether a resourceVersion can be one that the server gave out, or none.
func isVersion(version string) bool {
	_, err := strconv.ParseUint(version, 10, 63)
	return err == nil || version == ""
}

// clip shortens what a message repeats of what a client sent.
func clip(s string) string { return clipTo(s, 64) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// getOptions reads the query of a get.
func (c *call) getOptions() (metav1.GetOptions, error) {
	var options metav1.GetOptions
	if err := metav1.Convert_url_Values_To_v1_GetOptions(&c.query, &options, nil); err != nil {
		return options, apierrors.NewBadRequest(err.Error())
	}
	if !isVersion(options.ResourceVersion) {
		return options, invalidOptions("GetOptions", field.ErrorList{store.VersionFault(options.ResourceVersion)})
	}
	if len(c.query["export"]) > 0 && isTrue(c.query["export"]) {
		return options, apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	return options, nil
}

// createOptions, updateOptions and patchOptions read the query of a write. They return the directive for unknown
// fields beside.
func (c *call) createOptions(form api.Form) (api.WriteOptions, string, error) {
	var options metav1.CreateOptions
	if err := metav1.Convert_url_Values_To_v1_CreateOptions(&c.query, &options, nil); err != nil {
		return api.WriteOptions{}, "", apierrors.NewBadRequest(err.Error())
	}
	err := invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&options))
	return c.writeOptions(options.DryRun, options.FieldManager, form), directive(options.FieldValidation), err
}

func (c *call) updateOptions(form api.Form) (api.WriteOptions, string, error) {
	var options metav1.UpdateOptions
	if err := metav1.Convert_url_Values_To_v1_UpdateOptions(&c.query, &options, nil); err != nil {
		return api.WriteOptions{}, "", apierrors.NewBadRequest(err.Error())
	}
	err := invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&options))
	return c.writeOptions(options.DryRun, options.FieldManager, form), directive(options.FieldValidation), err
}

func (c *call) patchOptions(kind api.PatchType, form api.Form) (api.WriteOptions, string, error) {
	var options metav1.PatchOptions
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&c.query, &options, nil); err != nil {
		return api.WriteOptions{}, "", apierrors.NewBadRequest(err.Error())
	}
	err := invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&options, types.PatchType(kind)))
	write := c.writeOptions(options.DryRun, options.FieldManager, form)
	write.Force = options.Force != nil && *options.Force
	return write, directive(options.FieldValidation), err
}

func (c *call) writeOptions(dryRun []string, manager string, form api.Form) api.WriteOptions {
	if manager == "" {
		manager = managerOf(c.r)
	}
	return api.WriteOptions{DryRun: len(dryRun) > 0, FieldManager: manager, Form: form}
}

func directive(validation string) string {
	if validation == "" {
		return metav1.FieldValidationWarn
	}
	return validation
}

// managerOf is the field manager of clients that name none: the program in their User-Agent.
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
