# Agents as an auto scaling group of Amazon EC2. They dial the coordinator, so nothing has to reach them.
#
#   aws secretsmanager create-secret --name onrush-agent --secret-string "$(tar -C onrush-cluster -czf - agent | base64 -w0)"
#   terraform apply -var coordinator=10.0.0.5 -var agents=10 -var 'subnets=["subnet-1234"]' \
#     -var program_url=https://example.org/onrush -var program_sha256=...
#
# Tried: `terraform fmt -check` of Terraform 1.11. Not tried: `terraform validate` with the provider, and an account.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "region" {
  type    = string
  default = "eu-central-1"
}

variable "subnets" {
  type        = list(string)
  description = "Where the agents are; their security group may open connections to the coordinator and the system under test."
}

variable "security_groups" {
  type    = list(string)
  default = []
}

variable "coordinator" {
  type        = string
  description = "Name or address of the coordinator, one of those its certificate is for."
}

variable "agents" {
  type    = number
  default = 3
}

variable "instance_type" {
  type        = string
  default     = "c7i.xlarge"
  description = "No burstable ones: they make measurements SUSPECT."
}

variable "image" {
  type        = string
  default     = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
  description = "An image with cloud-init, curl and the aws command."
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

provider "aws" {
  region = var.region
}

data "aws_secretsmanager_secret" "agent" {
  name = var.secret
}

resource "aws_iam_role" "agent" {
  name_prefix = "onrush-agent-"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "agent" {
  role = aws_iam_role.agent.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "secretsmanager:GetSecretValue"
      Resource = data.aws_secretsmanager_secret.agent.arn
    }]
  })
}

resource "aws_iam_instance_profile" "agent" {
  name_prefix = "onrush-agent-"
  role        = aws_iam_role.agent.name
}

locals {
  # One line: it becomes a line of a script.
  fetch = join(" ", [
    "aws secretsmanager get-secret-value --region ${var.region} --secret-id ${var.secret}",
    "--query SecretString --output text | base64 -d | tar -xz -C /etc/onrush",
  ])
}

resource "aws_launch_template" "agent" {
  name_prefix            = "onrush-agent-"
  image_id               = var.image
  instance_type          = var.instance_type
  vpc_security_group_ids = var.security_groups

  user_data = base64encode(templatefile("${path.module}/../../cloud-init/agent.yaml", {
    coordinator        = var.coordinator
    unit_base64        = filebase64("${path.module}/../../systemd/onrush-agent.service")
    program_url        = var.program_url
    program_sha256     = var.program_sha256
    fetch_certificates = local.fetch
  }))

  iam_instance_profile {
    arn = aws_iam_instance_profile.agent.arn
  }

  # User data is for the machine itself only.
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
}

resource "aws_autoscaling_group" "agents" {
  name_prefix         = "onrush-agents-"
  desired_capacity    = var.agents
  min_size            = 0
  max_size            = var.agents
  vpc_zone_identifier = var.subnets

  launch_template {
    id      = aws_launch_template.agent.id
    version = "$Latest"
  }

  tag {
    key                 = "Name"
    value               = "onrush-agent"
    propagate_at_launch = true
  }
}

output "agents" {
  value = aws_autoscaling_group.agents.name
}
