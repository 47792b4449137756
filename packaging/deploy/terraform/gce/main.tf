# Agents as a managed instance group of Google Compute Engine. They dial the coordinator, so nothing has to reach them.
#
#   printf %s "$(tar -C onrush-cluster -czf - agent | base64 -w0)" | gcloud secrets create onrush-agent --data-file=-
#   terraform apply -var project=my-project -var coordinator=10.0.0.5 -var agents=10 \
#     -var program_url=https://example.org/onrush -var program_sha256=...
#
# Tried: `terraform fmt -check` of Terraform 1.11. Not tried: `terraform validate` with the provider, and an account.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 5.0"
    }
  }
}

variable "project" {
  type = string
}

variable "zone" {
  type    = string
  default = "europe-west1-b"
}

variable "network" {
  type    = string
  default = "default"
}

variable "coordinator" {
  type        = string
  description = "Name or address of the coordinator, one of those its certificate is for."
}

variable "agents" {
  type    = number
  default = 3
}

variable "machine_type" {
  type        = string
  default     = "c3-standard-4"
  description = "Whole cores: shared ones make measurements SUSPECT."
}

variable "program_url" {
  type        = string
  description = "Where the onrush program can be had, of the coordinator's version."
}

variable "program_sha256" {
  type = string
}

variable "secret" {
  type        = string
  default     = "onrush-agent"
  description = "Name of the secret: the agent's folder of `onrush cluster init`, as tar.gz in base64."
}

provider "google" {
  project = var.project
  zone    = var.zone
}

resource "google_service_account" "agent" {
  account_id   = "onrush-agent"
  display_name = "Onrush agents"
}

resource "google_secret_manager_secret_iam_member" "agent" {
  secret_id = var.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = "serviceAccount:${google_service_account.agent.email}"
}

locals {
  metadata = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
  secret   = "https://secretmanager.googleapis.com/v1/projects/${var.project}/secrets/${var.secret}/versions/latest:access"
  # One line: it becomes a line of a script.
  fetch = join(" ", [
    "token=$(curl -sf -H 'Metadata-Flavor: Google' ${local.metadata} | sed 's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/') &&",
    "curl -sf -H \"Authorization: Bearer $token\" ${local.secret} | sed -n 's/.*\"data\": *\"\\([^\"]*\\)\".*/\\1/p' |",
    "base64 -d | base64 -d | tar -xz -C /etc/onrush",
  ])
}

resource "google_compute_instance_template" "agent" {
  name_prefix  = "onrush-agent-"
  machine_type = var.machine_type

  disk {
    source_image = "ubuntu-os-cloud/ubuntu-2404-lts-amd64"
    auto_delete  = true
    boot         = true
  }

  network_interface {
    network = var.network
  }

  metadata = {
    user-data = templatefile("${path.module}/../../cloud-init/agent.yaml", {
      coordinator        = var.coordinator
      unit_base64        = filebase64("${path.module}/../../systemd/onrush-agent.service")
      program_url        = var.program_url
      program_sha256     = var.program_sha256
      fetch_certificates = local.fetch
    })
  }

  service_account {
    email  = google_service_account.agent.email
    scopes = ["cloud-platform"]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "google_compute_instance_group_manager" "agents" {
  name               = "onrush-agents"
  base_instance_name = "onrush-agent"
  target_size        = var.agents

  version {
    instance_template = google_compute_instance_template.agent.id
  }
}

output "agents" {
  value = google_compute_instance_group_manager.agents.instance_group
}
