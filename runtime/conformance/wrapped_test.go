package conformance

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: data}
}

// The wrappers that controller-runtime has for clients: a dry run, a namespace, a field owner, field validation.
func TestWrappedClients(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), clusterClient(t, memoryCluster(t).config)
	one := configMap("one", map[string]string{"a": "b"})
	dry := client.NewDryRunClient(c)
	if err := dry.Create(ctx, one.DeepCopy()); err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(one), one); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run made it: %v", err)
	}
	if err := client.WithFieldOwner(c, "somebody").Create(ctx, one); err != nil ||
		one.ManagedFields[0].Manager != "somebody" {
		t.Fatalf("%v %v", one.ManagedFields, err)
	}
	version := one.ResourceVersion
	changed := one.DeepCopy()
	changed.Data["a"] = "c"
	if err := dry.Update(ctx, changed); err != nil || changed.Data["a"] != "c" {
		t.Errorf("%v %v", changed.Data, err)
	}
	if err := dry.Patch(ctx, changed,
		client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"d"}}`))); err != nil || changed.Data["a"] != "d" {
		t.Errorf("%v %v", changed.Data, err)
	}
	if err := dry.Apply(ctx, applycorev1.ConfigMap("one", "default").WithData(map[string]string{"a": "e"}),
		client.FieldOwner("x"), client.ForceOwnership); err != nil {
		t.Error(err)
	}
	if err := dry.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default")); err != nil {
		t.Error(err)
	}
	if err := dry.Delete(ctx, changed); err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(one), one); err != nil || one.ResourceVersion != version ||
		one.Data["a"] != "b" {
		t.Errorf("dry runs left %v, %v", one, err)
	}

	there := client.NewNamespacedClient(c, "there")
	two := configMap("two", nil)
	two.Namespace = ""
	if err := there.Create(ctx, two); err != nil || two.Namespace != "there" {
		t.Fatalf("%v, %v", two, err)
	}
	var list corev1.ConfigMapList
	if err := there.List(ctx, &list); err != nil || len(list.Items) != 1 {
		t.Errorf("%d in the namespace, %v", len(list.Items), err)
	}
	if err := there.Apply(ctx, applycorev1.ConfigMap("three", ""), client.FieldOwner("x")); err != nil {
		t.Error(err)
	}
	if err := there.Get(ctx, client.ObjectKey{Name: "three"}, two); err != nil || two.Namespace != "there" {
		t.Errorf("%v, %v", two, err)
	}
	if err := there.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}); err != nil {
		t.Errorf("a kind in no namespace: %v", err)
	}
	validates(t, c)
}

// validates writes a field that there isn't, with each sort of validation.
func validates(t *testing.T, c client.Client) {
	wrong := func(name string) *unstructured.Unstructured {
		u := newUnstructured(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		u.SetNamespace("default")
		u.SetName(name)
		u.Object["nonsense"] = "x"
		return u
	}
	if err := client.WithFieldValidation(c, metav1.FieldValidationStrict).Create(t.Context(),
		wrong("w")); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "nonsense"`) {
		t.Errorf("strict: %v", err)
	}
	for _, validation := range []client.FieldValidation{metav1.FieldValidationWarn, metav1.FieldValidationIgnore} {
		if err := client.WithFieldValidation(c, validation).
			Create(t.Context(), wrong(strings.ToLower(string(validation)))); err != nil {
			t.Errorf("%s: %v", validation, err)
		}
	}
}

// warned keeps warnings.
type warned struct {
	mu    sync.Mutex
	texts []string
}

func (w *warned) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 {
		w.texts = append(w.texts, text)
	}
}

// A client hears the server's warnings.
func TestWarnings(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(memoryCluster(t).config)
	heard := new(warned)
	config.WarningHandlerWithContext = heard
	c := client.WithFieldValidation(clusterClient(t, config), metav1.FieldValidationWarn)
	u := newUnstructured(deploymentKind)
	object := map[string]any{"spec": map[string]any{
		"nonsense": 1, "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "m", "image": "i", "imagePolicy": "x"}}}},
	}}
	u.Object["spec"] = object["spec"]
	u.SetNamespace("default")
	u.SetName("web")
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	want := []string{`unknown field "spec.nonsense"`, `unknown field "spec.template.spec.containers[0].imagePolicy"`}
	if !slices.Equal(heard.texts, want) {
		t.Errorf("warned of %q", heard.texts)
	}
}

// Subresources through controller-runtime: those of a kind of their own and those that are a part of the object.
func TestSubResourceClients(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), clusterClient(t, memoryCluster(t).config)
	if err := autoscalingv1.AddToScheme(c.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := policyv1.AddToScheme(c.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := authenticationv1.AddToScheme(c.Scheme()); err != nil {
		t.Fatal(err)
	}
	d := deployment("web")
	if err := c.Create(ctx, d); err != nil {
		t.Fatal(err)
	}
	scale := &autoscalingv1.Scale{}
	if err := c.SubResource("scale").Get(ctx, d, scale); err != nil || scale.Spec.Replicas != 3 {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = 5
	if err := c.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale)); err != nil ||
		scale.Spec.Replicas != 5 {
		t.Errorf("%+v, %v", scale, err)
	}
	if err := c.SubResource("scale").Patch(ctx, d, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"replicas":6}}`)), client.WithSubResourceBody(scale)); err != nil || scale.Spec.Replicas != 6 {
		t.Errorf("%+v, %v", scale, err)
	}
	applied := applyautoscalingv1.Scale().WithName("web").WithNamespace("default").
		WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(7))
	err := c.SubResource("scale").Apply(ctx, applyappsv1.Deployment("web", "default"),
		&client.SubResourceApplyOptions{SubResourceBody: applied}, client.FieldOwner("scaler"), client.ForceOwnership)
	if err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil || *d.Spec.Replicas != 7 {
		t.Errorf("%v, %v", *d.Spec.Replicas, err)
	}
	before := d.DeepCopy()
	d.Status.Replicas = 4
	if err := c.Status().Patch(ctx, d, client.StrategicMergeFrom(before)); err != nil || d.Status.Replicas != 4 {
		t.Errorf("%+v, %v", d.Status, err)
	}
	if err := c.Status().Patch(ctx, before,
		client.MergeFromWithOptions(&appsv1.Deployment{ObjectMeta: before.ObjectMeta},
			client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		t.Errorf("a status that was written meanwhile: %v", err)
	}
	condition := applyappsv1.DeploymentCondition().WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue)
	status := applyappsv1.Deployment("web", "default").
		WithStatus(applyappsv1.DeploymentStatus().WithConditions(condition))
	if err := c.Status().Apply(ctx, status, client.FieldOwner("judge")); err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil || len(d.Status.Conditions) != 1 ||
		d.Status.Replicas != 4 {
		t.Errorf("%+v, %v", d.Status, err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "builder"}}
	if err := c.Create(ctx, account); err != nil {
		t.Fatal(err)
	}
	token := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(ctx, account, token); err != nil || token.Status.Token == "" {
		t.Errorf("%+v, %v", token.Status, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "m", Image: "i"}}}}
	if err := c.Create(ctx, pod); err != nil {
		t.Fatal(err)
	}
	if err := c.SubResource("binding").
		Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Name: "n1"}}); err != nil {
		t.Error(err)
	}
	if err := c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}, client.DryRunAll); err != nil {
		t.Error(err)
	}
	if err := c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}); err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
		t.Errorf("evicted: %v", err)
	}
	if err := c.SubResource("nothing").
		Create(ctx, account, &authenticationv1.TokenRequest{}); !apierrors.IsNotFound(err) {
		t.Errorf("what there isn't: %v", err)
	}
}

// Typed apply configurations through controller-runtime: the answer is read into them, what was applied is extracted
// again, and what is applied no more is gone.
func TestTypedApplyConfigurations(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), clusterClient(t, memoryCluster(t).config)
	container := applycorev1.Container().WithName("main").WithImage("main:1")
	mine := applyappsv1.Deployment("web", "default").WithLabels(map[string]string{"by": "one"}).
		WithSpec(applyappsv1.DeploymentSpec().
			WithReplicas(2).WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).
				WithSpec(applycorev1.PodSpec().WithContainers(container))))
	if err := c.Apply(ctx, mine, client.FieldOwner("one")); err != nil || mine.UID == nil || mine.Spec.Strategy == nil {
		t.Fatalf("%+v, %v", mine, err)
	}
	var d appsv1.Deployment
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &d); err != nil {
		t.Fatal(err)
	}
	extracted, err := applyappsv1.ExtractDeployment(&d, "one")
	if err != nil || extracted.Spec.Strategy != nil || *extracted.Spec.Replicas != 2 ||
		*extracted.Spec.Template.Spec.Containers[0].Image != "main:1" {
		t.Fatalf("%+v, %v", extracted, err)
	}
	side := applycorev1.Container().WithName("side").WithImage("side:1")
	other := applyappsv1.Deployment("web", "default").WithSpec(applyappsv1.DeploymentSpec().
		WithTemplate(applycorev1.PodTemplateSpec().WithSpec(applycorev1.PodSpec().WithContainers(side))))
	if err := c.Apply(ctx, other, client.FieldOwner("two")); err != nil ||
		len(other.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("%+v, %v", other, err)
	}
	extracted.Labels = nil
	extracted.Spec.Replicas = nil
	if err := c.Apply(ctx, extracted, client.FieldOwner("one")); err != nil || extracted.Labels["by"] != "" ||
		*extracted.Spec.Replicas != 1 {
		t.Errorf("%+v, %v", extracted, err)
	}
	stale := applyappsv1.Deployment("web", "default").WithResourceVersion(d.ResourceVersion)
	if err := c.Apply(ctx, stale, client.FieldOwner("three")); !apierrors.IsConflict(err) {
		t.Errorf("of an old version: %v", err)
	}
	// The same in CreateOrUpdate: nothing is written if nothing changes.
	if err := c.Get(ctx, client.ObjectKeyFromObject(&d), &d); err != nil {
		t.Fatal(err)
	}
	version := d.ResourceVersion
	for _, ensure := range []func(context.Context, client.Client, client.Object, controllerutil.MutateFn) (
		controllerutil.OperationResult, error){
		controllerutil.CreateOrUpdate, controllerutil.CreateOrPatch,
	} {
		if result, err := ensure(ctx, c, &d, func() error { return nil }); err != nil ||
			result != controllerutil.OperationResultNone || d.ResourceVersion != version {
			t.Errorf("%s %s, %v", result, d.ResourceVersion, err)
		}
	}
}
