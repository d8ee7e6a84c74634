#!/bin/sh
# Builds a kube-apiserver in a directory of its own, and other commands of Kubernetes that are named after it, such as
# kube-controller-manager: build-kube-apiserver.sh DIRECTORY [COMMAND...]. RELEASE=37.2 builds those of Kubernetes
# 1.37.2, the default is 36.3. It takes minutes.
set -eu
release=${RELEASE:-36.3}
dir=$1
shift
mkdir -p "$dir"
cd "$dir"
[ -f go.mod ] || go mod init kube-apiserver.build
source=$(go mod download -json "k8s.io/kubernetes@v1.$release" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
# Upstream's module stands on folders beside it, which are not in what is downloaded: their releases are.
sed -e 's#^module .*#module kube-apiserver.build#' -e "s#=> ./staging/src/\(k8s.io/[a-z-]*\)#=> \1 v0.$release#" "$source/go.mod" > go.mod
cp "$source/go.sum" go.sum
chmod u+w go.mod go.sum
go mod edit -require="k8s.io/kubernetes@v1.$release"
version=k8s.io/component-base/version
for command in kube-apiserver "$@"; do
  go build -mod=mod -p 2 -trimpath -o "$command" \
    -ldflags="-s -w -X $version.gitVersion=v1.$release -X $version.gitMajor=1 -X $version.gitMinor=${release%.*}" \
    "k8s.io/kubernetes/cmd/$command"
done
