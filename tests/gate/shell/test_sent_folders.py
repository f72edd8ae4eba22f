"""Under rules for reading, a command that sends or publishes a folder asks where such a rule could match in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

NAMED = """
kubectl apply -k held
kubectl apply -kheld
kubectl apply --kustomize=held
kubectl apply -f held
kubectl apply -f k8s/a.yaml,held/x
kubectl -n x delete -k held
kubectl kustomize held
oc start-build x --from-dir=held
oc new-app held
kustomize build held
kubectl create configmap x --from-file=held
kubectl create configmap x --from-file=a=held/x
kubectl create configmap x --from-file a=held
kubectl create secret generic x --from-env-file held/x
helm install x held
helm install x held --set a=b
helm upgrade --install x held -f open/x
helm template ./held
helm template x open --set-file a=held/x
helm lint held
helm package held
helm dependency build held
vercel held
netlify deploy --dir=held
netlify deploy -d held
wrangler pages deploy held
npm publish held
npm publish ./held
npm publ held
npm pack held
docker build held
docker build --build-context a=held open
docker buildx build held
flyctl deploy held
gcloud run deploy x --source=held
gcloud builds submit held
aws lambda update-function-code --zip-file fileb://held/x
aws s3 sync held s3://x
gsutil cp -r held gs://x
rsync -a held host:x
scp -r held host:x
gh secret set -f held/x
gh secret set -fheld/x
gh repo create --source=held --push
twine upload held/x
npx serve held
npx http-server held
timeout 9 kubectl apply -k held
kubectl apply -k h*ld
kubectl apply -k {held,open}
twine upload held/*
docker buildx b held
podman-remote build held
php -S localhost:8000 -t held
php -t held -S localhost:8000
caddy file-server --root held
caddy file-server --root=held
miniserve held
dufs held
webfsd -r held
darkhttpd held
busybox httpd -h held
ruby -run -e httpd held
rclone serve http held
rclone copy held x:
ngrok http file://held
ngrok http FILE://held
croc send held
gradle publish -p held
mvn deploy -f held/x
huggingface-cli upload me/x held
cd held; kustomize build .
cd open && helm install x ../held
"""

UNKNOWN = """
helm install x $D
kubectl apply -k "$D"
kubectl apply --kustomize="$D"
kubectl create configmap x --from-file=a="$D"
D=held; helm install x $D
D=held; kubectl apply -k "$D"
D=held; kubectl apply --kustomize="$D"
helm $VERB x held
"""

HERE = """
vercel
vercel deploy
vercel --prod
vercel deploy --token open
netlify deploy
wrangler deploy
npx wrangler deploy
sam deploy
pulumi up
npm publish
npm publish --access public
pnpm publish
yarn publish
docker build .
gcloud app deploy
gcloud builds submit
firebase deploy
fly deploy
heroku container:push web
serverless deploy
sls deploy
cargo publish
cargo package
cdk deploy
uv publish
eb deploy
railway up
skaffold run
rsync -a . host:x
aws s3 sync . s3://x
python -m http.server
npx http-server
php -S localhost:8000
php -Slocalhost:8000
caddy file-server
miniserve
webfsd
busybox httpd
mvn deploy
mvn -q clean deploy
mvn site-deploy
./mvnw deploy
mvn release:perform
gradle publish
gradle :lib:publishAllPublicationsToMavenRepository
./gradlew publish
sbt publishSigned
lerna publish
npx lerna publish from-git
hg push
svn commit -m x
jj git push
dvc push
docker push x
podman push x
dotnet nuget push
dart pub publish
goreleaser release
"""

QUIET = """
kubectl get pods
kubectl get pods -n open
kubectl apply -f k8s/a.yaml
kubectl apply -f k8s
kubectl apply -k k8s
kubectl logs deploy/web
kubectl create configmap x --from-literal=a=b
kustomize build k8s
helm install x ./open
helm list
helm upgrade x open --set a=b
helm upgrade x open --set a.tag=$TAG
helm repo add a https://a.example
vercel env ls
vercel logs x
netlify status
wrangler tail
npm test
npm install
npm run build
docker build -f Dockerfile open
docker ps
gcloud run services list
aws s3 ls
aws s3 sync open s3://x
gh pr list
gh secret list
fly status
firebase projects:list
pulumi stack ls
cargo build
cargo test
uv sync
twine check open/x
terraform plan
php index.php
php artisan migrate
mvn test
mvn verify
gradle build
./gradlew test
sbt test
lerna run build
hg status
svn status
dvc status
docker pull x
ngrok http 80
caddy version
busybox ls open
ruby open/x
dart test
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("sent").resolve()
    for name in ("held/x", "open/x", "k8s/a.yaml", "Dockerfile", "package.json"):
        path = top / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    Path(top, "home").mkdir()
    return {"workspace": str(top / "ws"), "home": str(top / "home")}


INSIDE = [row for row in NAMED.strip().splitlines() if not row.startswith("cd ")]
DENY, ASK = ["Read(./held/**)"], ["Read(held/x)"]


@pytest.mark.parametrize("command", [row for text in (NAMED, UNKNOWN, HERE) for row in text.strip().splitlines()])
@pytest.mark.parametrize("more", [{"mode": "auto"}, {"bypass": True}], ids=["auto", "bypass"])
def test_a_folder_that_a_rule_speaks_of_is_not_sent_unasked(
    places: dict[str, str], command: str, more: dict[str, object]
) -> None:
    assert decide(command, deny=DENY, **more, **places) != "allow"
    assert decide(command, ask=ASK, **more, **places) != "allow"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_what_sends_nothing_of_the_kind_asks_nothing(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=DENY, mode="auto", **places) == "allow"


@pytest.mark.parametrize("command", [*INSIDE, *HERE.strip().splitlines()])
def test_without_such_rules_nothing_is_asked(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "allow"
    assert decide(command, deny=["Read(//etc/**)"], mode="auto", **places) == "allow"
