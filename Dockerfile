# One image of three static programs: /manager, the operator; /agent, which runs
# on the nodes that hold pools, by a DaemonSet with a command and user of its own;
# and /bench, which an init container copies beside pgbench. Compiled on the
# builder's own platform for the target's, so no architecture is emulated:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 .
# Bases are pinned by the digest of their index for all architectures.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY cmd cmd
COPY controllers controllers
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/manager ./cmd/agent ./cmd/bench

FROM gcr.io/distroless/static-debian13:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6
ARG VERSION=dev
LABEL org.opencontainers.image.title="pgstorage" \
      org.opencontainers.image.description="Postgres on CloudNativePG with storage that fits it" \
      org.opencontainers.image.source="https://github.com/pgstorage/pgstorage" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /out/manager /out/agent /out/bench /
USER 65532:65532
ENTRYPOINT ["/manager"]
