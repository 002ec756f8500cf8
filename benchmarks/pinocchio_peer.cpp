// Pinocchio's C++ routines behind a C interface: a model built from arrays, loops over states.
//
// Arrays of states lie state by state. The loops call each routine as Pinocchio's own benchmarks do, on Eigen
// vectors that exist already, so that nothing but the routine is timed.
#include <cstddef>
#include <vector>

#include "pinocchio_model.hpp"
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Peer
{
  pin::Model model;
  pin::Data data;
  std::vector<Vector> q, qd, x;
};

extern "C" {

Peer * peer_new(
  int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity)
{
  const pin::Model model = model_of(n, parent, revolute, pose, inertia, armature, gravity);
  return new Peer{model, pin::Data(model), {}, {}, {}};
}

void peer_states(Peer * peer, std::size_t count, const double * q, const double * qd, const double * x)
{
  const auto n = static_cast<std::size_t>(peer->model.nv);
  peer->q.clear(), peer->qd.clear(), peer->x.clear();
  for (std::size_t i = 0; i < count; ++i)
  {
    peer->q.push_back(Eigen::Map<const Vector>(q + n * i, peer->model.nv));
    peer->qd.push_back(Eigen::Map<const Vector>(qd + n * i, peer->model.nv));
    peer->x.push_back(Eigen::Map<const Vector>(x + n * i, peer->model.nv));
  }
}

// Each runs over all states; `out`, where not null, takes the results of the last.
void peer_rnea(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::rnea(p->model, p->data, p->q[i], p->qd[i], p->x[i]);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.tau;
}

void peer_crba(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::crba(p->model, p->data, p->q[i], pin::Convention::WORLD);
  const auto n = p->model.nv;
  if (out) Eigen::Map<RowMatrix>(out, n, n) = p->data.M.selfadjointView<Eigen::Upper>().toDenseMatrix();
}

void peer_crba_local(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::crba(p->model, p->data, p->q[i], pin::Convention::LOCAL);
  const auto n = p->model.nv;
  if (out) Eigen::Map<RowMatrix>(out, n, n) = p->data.M.selfadjointView<Eigen::Upper>().toDenseMatrix();
}

void peer_aba(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::aba(p->model, p->data, p->q[i], p->qd[i], p->x[i], pin::Convention::WORLD);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.ddq;
}

void peer_aba_local(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::aba(p->model, p->data, p->q[i], p->qd[i], p->x[i], pin::Convention::LOCAL);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.ddq;
}

void peer_rnea_derivatives(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::computeRNEADerivatives(p->model, p->data, p->q[i], p->qd[i], p->x[i]);
  const auto n = p->model.nv;
  if (out)
  {
    Eigen::Map<RowMatrix>(out, n, n) = p->data.dtau_dq;
    Eigen::Map<RowMatrix>(out + n * n, n, n) = p->data.dtau_dv;
  }
}

void peer_aba_derivatives(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::computeABADerivatives(p->model, p->data, p->q[i], p->qd[i], p->x[i]);
  const auto n = p->model.nv;
  if (out)
  {
    Eigen::Map<Vector>(out, n) = p->data.ddq;
    Eigen::Map<RowMatrix>(out + n, n, n) = p->data.ddq_dq;
    Eigen::Map<RowMatrix>(out + n + n * n, n, n) = p->data.ddq_dv;
    Eigen::Map<RowMatrix>(out + n + 2 * n * n, n, n) = p->data.Minv.selfadjointView<Eigen::Upper>().toDenseMatrix();
  }
}
}
